package explain_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
)

// TestBrokenArchive: users write the archives of custom rules. A mistake in an archive leaves out only the example.
func TestBrokenArchive(t *testing.T) {
	for name, text := range map[string]string{
		"unknown flag": "-- flags --\nhope cluster\n-- bad.yaml --\n{}\n-- good.yaml --\n{}\n",
		"no bad":       "-- good.yaml --\n{}\n",
		"empty":        "",
	} {
		t.Run(name, func(t *testing.T) {
			origin := &lint.Origin{Examples: fstest.MapFS{"acme/x.txtar": &fstest.MapFile{Data: []byte(text)}}}
			rule := &lint.Rule{Group: "acme", Name: "x", Severity: lint.Error, Summary: "a rule", Origin: origin}
			if e, ok := explain.Of(rule); ok {
				t.Errorf("an example: %+v", e)
			}
			if page := explain.Page(rule); strings.Contains(page, "## Example") {
				t.Errorf("a page with an example:\n%s", page)
			}
		})
	}
	if _, err := explain.SamplesOf(txtar.Parse([]byte("-- flags --\nbad.yaml: hope cluster\n-- bad.yaml --\n"))); err == nil || !strings.Contains(err.Error(), `"hope cluster"`) {
		t.Errorf("the error is %v", err)
	}
}
