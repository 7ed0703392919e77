package explain_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
)

// TestWrappedWhy: the page of a rule whose Why is one long line, as in Go code, has lines of at most 120 columns, except for code and tables.
func TestWrappedWhy(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("wörd ", 50))
	kept := "| " + long + " |\n\n```yaml\n" + long + "\n```\n\n    " + long + "\n\n" + strings.Repeat("x", 130)
	page := explain.Page(&lint.Rule{Name: "long", Group: "acme", Severity: lint.Error, Why: long + "\n\n" + kept, Origin: &lint.Origin{}})
	line := strings.TrimSpace(strings.Repeat("wörd ", 24))
	if want := "## Why\n\n" + line + "\n" + line + "\nwörd wörd\n\n" + kept + "\n"; !strings.Contains(page, want) {
		t.Errorf("no\n%s\nin\n%s", want, page)
	}
}
