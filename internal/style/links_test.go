package style_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.*)$`)
	// notInAnchor is what GitHub leaves out of a heading's anchor.
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinks follows the links of documents to files of the project and to headings in them.
func TestLinks(t *testing.T) {
	for _, path := range files(t) {
		if filepath.Ext(path) != ".md" {
			continue
		}
		for _, match := range link.FindAllStringSubmatch(prose(read(t, path)), -1) {
			to, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(to, ":") {
				continue // another site
			}
			target := path
			if to != "" {
				target = filepath.Join(filepath.Dir(path), filepath.FromSlash(to))
			}
			if _, err := os.Stat(filepath.Join(root, target)); err != nil {
				t.Errorf("%s: %s does not exist", path, match[1])
			} else if anchor != "" && !anchors(read(t, target))[anchor] {
				t.Errorf("%s: %s has no heading #%s", path, target, anchor)
			}
		}
	}
}

// anchors are the names that GitHub gives to headings.
func anchors(markdown string) map[string]bool {
	names := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(fence.ReplaceAllString(markdown, ""), -1) {
		name := notInAnchor.ReplaceAllString(strings.ToLower(match[1]), "")
		names[strings.ReplaceAll(name, " ", "-")] = true
	}
	return names
}

// TestMap looks for each internal package in docs/architecture.md.
func TestMap(t *testing.T) {
	packages, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, span := range code.FindAllString(read(t, "docs/architecture.md"), -1) {
		named[strings.TrimPrefix(strings.Trim(span, "`"), "internal/")] = true
	}
	for _, p := range packages {
		if p.IsDir() && !named[p.Name()] {
			t.Errorf("docs/architecture.md does not have the package internal/%s", p.Name())
		}
	}
}
