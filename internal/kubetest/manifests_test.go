//go:build kubernetes

package kubetest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var namespace = regexp.MustCompile(`\bnamespace: ([a-z-]+)`)

// testManifests gives the API server the manifests that the command line is tested with. The API server accepts the good ones. Those in which the
// command line finds errors are rejected, by the webhook or by the API server itself.
func (w *webhook) testManifests(t *testing.T) {
	files, err := filepath.Glob("../../testdata/manifests/*/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no manifests", err)
	}
	known := map[string]bool{"default": true}
	taken, denied, invalid := 0, 0, 0
	for _, file := range files {
		folder := filepath.Base(filepath.Dir(file))
		t.Run(folder+"/"+filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range namespace.FindAllSubmatch(text, -1) {
				if name := string(match[1]); !known[name] {
					known[name] = true
					w.must(t, "", "create", "namespace", name)
				}
			}
			_, stderr, err := w.kubectl(t, "", "apply", "--dry-run=server", "-f", file)
			switch wrong := w.wrong(t, file); {
			case err == nil:
				taken++
				if wrong {
					t.Error("taken, though the command line finds errors")
				}
			case strings.Contains(stderr, "denied the request: xdslint: "):
				denied++
				if !wrong {
					t.Errorf("the command line finds no errors, and still: %s", stderr)
				}
			case folder == "good":
				t.Error(stderr)
			default:
				invalid++
			}
		})
	}
	t.Logf("of %d manifests %d are taken, the webhook denied %d, and the API server itself %d", len(files), taken, denied, invalid)
	if taken == 0 || denied == 0 {
		t.Error("the webhook was not asked")
	}
}

// wrong reports whether the command line finds errors in the object that kubectl sends for a file. Of two equal keys, kubectl sends the last.
func (w *webhook) wrong(t *testing.T, file string) bool {
	t.Helper()
	text, _, err := w.kubectl(t, "", "apply", "--dry-run=client", "--validate=false", "-o", "json", "-f", file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(w.dir, "xdslint"), "--no-config", "-")
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatalf("%v: %s", err, out)
	}
	return err != nil
}
