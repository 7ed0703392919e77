package style_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const root = "../.."

// text is something that a person reads.
type text struct {
	line int // of the file, from 1
	text string
}

// readers take the texts out of a file, by its extension.
var readers = map[string]func(t *testing.T, path, content string) []text{
	".md":    func(_ *testing.T, _, content string) []text { return []text{{1, prose(content)}} },
	".go":    goTexts,
	".txtar": archiveTexts,
	".ts":    scriptTexts, ".tsx": scriptTexts,
	".rs": plain, ".proto": plain, ".css": plain, ".html": plain, ".yaml": plain, ".yml": plain,
}

// files lists the files with texts, as paths from the root of the module with slashes.
func files(t *testing.T) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() && skipped(name) {
			return filepath.SkipDir
		}
		if readers[filepath.Ext(name)] != nil && d.Type().IsRegular() {
			paths = append(paths, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// skipped are folders of others, of what is built, and of inputs of tests. Archives of rules are pages too.
func skipped(folder string) bool {
	base := filepath.Base(folder)
	hidden := len(base) > 1 && strings.HasPrefix(base, ".")
	input := strings.Contains("/"+folder, "/testdata/") && !strings.HasPrefix(folder, "testdata/rules") || base == "testdata" && folder != "testdata"
	built := slices.Contains([]string{"bin", "web/dist", "web/build"}, folder) || strings.HasSuffix(folder, "rust/target")
	return hidden || input || built || base == "node_modules"
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

var (
	fence = regexp.MustCompile("(?ms)^ *```.*?^ *```$")
	// transcript is a block of what a program prints: it has no language, or one of these.
	transcript = regexp.MustCompile("^ *```(console|text)?\n")
)

// prose is Markdown without code and transcripts: those who print them answer for these. Lines stay where they are.
func prose(markdown string) string {
	markdown = fence.ReplaceAllStringFunc(markdown, func(block string) string {
		if transcript.MatchString(block) {
			return blank(block)
		}
		return strings.ReplaceAll(block, "`", "")
	})
	return code.ReplaceAllStringFunc(markdown, blank)
}

func blank(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) }

// declared is the name with which a doc comment begins.
var declared = regexp.MustCompile(`^(Package )?\S*`)

// goTexts are the comments, without the name that they begin with, and, outside of tests, the string literals of several words.
func goTexts(t *testing.T, path, content string) (texts []text) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, content, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if ast.IsGenerated(file) {
		return nil
	}
	for _, group := range file.Comments {
		texts = append(texts, text{set.Position(group.Pos()).Line, declared.ReplaceAllString(group.Text(), "")})
	}
	if strings.HasSuffix(path, "_test.go") {
		return texts
	}
	ast.Inspect(file, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		if s, err := strconv.Unquote(lit.Value); err == nil && strings.Contains(s, " ") {
			texts = append(texts, text{set.Position(lit.Pos()).Line, s})
		}
		return true
	})
	return texts
}

// archiveTexts are the prose of a rule's archive: what it is about, and what users see of it.
func archiveTexts(_ *testing.T, _, content string) (texts []text) {
	archive := txtar.Parse([]byte(content))
	texts = append(texts, text{1, string(archive.Comment)})
	for _, f := range archive.Files {
		if f.Name == "why.md" || f.Name == "want" {
			before, _, _ := strings.Cut(content, "-- "+f.Name+" --\n")
			texts = append(texts, text{strings.Count(before, "\n") + 2, prose(string(f.Data))})
		}
	}
	return texts
}

var (
	commentMark = regexp.MustCompile(`(?m)^[ \t]*(//[/!]?|#|\*)`)
	// script matches comments, string literals of several words, and what is between tags: enough to leave most names out.
	script = regexp.MustCompile("(?s)//[^\n]*(\n[ \t]*//[^\n]*)*|/\\*.*?\\*/|\"[^\"\n]* [^\"\n]*\"|`[^`]* [^`]*`|>[^<>{}=;()]+<")
)

// plain is a whole file without the marks of its comments, which may break a phrase.
func plain(_ *testing.T, _, content string) []text {
	return []text{{1, commentMark.ReplaceAllString(content, "")}}
}

func scriptTexts(_ *testing.T, _, content string) (texts []text) {
	for _, at := range script.FindAllStringIndex(content, -1) {
		line := 1 + strings.Count(content[:at[0]], "\n")
		texts = append(texts, text{line, commentMark.ReplaceAllString(content[at[0]:at[1]], "")})
	}
	return texts
}

func TestTexts(t *testing.T) {
	for path, content := range map[string]string{
		"a.go":    "package a\n\n// nobody is a name.\n// It is nobody.\nconst nobody, key = `for nobody`, `nobody`\n",
		"a.ts":    "const nobody = nobody()\n\n// first\n// It is nobody.\n<p>for nobody</p>",
		"a.txtar": "About nobody\n-- bad.yaml --\nnobody: nobody\n-- want --\nfor nobody\n",
	} {
		var lines []int
		for _, x := range readers[filepath.Ext(path)](t, path, content) {
			for _, at := range regexp.MustCompile("nobody").FindAllStringIndex(x.text, -1) {
				lines = append(lines, x.line+strings.Count(x.text[:at[0]], "\n"))
			}
		}
		want := map[string][]int{"a.go": {4, 5}, "a.ts": {4, 5}, "a.txtar": {1, 5}}[path]
		if !slices.Equal(lines, want) {
			t.Errorf("%s: lines %v, not %v", path, lines, want)
		}
	}
}
