package explain_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
	"github.com/xdslint/xdslint/testdata"
)

// TestBrief: the playground explains each rule as the command does.
func TestBrief(t *testing.T) {
	for _, rule := range rules.Builtin() {
		whole, err := testdata.Rules.ReadFile("rules/" + rule.ID() + ".txtar")
		if err != nil {
			continue // a rule about files or about custom rules
		}
		short := txtar.Format(explain.Brief(txtar.Parse(whole)))
		if len(short) > len(whole) {
			t.Errorf("%s: %d bytes of %d", rule.ID(), len(short), len(whole))
		}
		of := func(archive []byte) explain.Example {
			copied := *rule
			copied.Origin = &lint.Origin{Examples: fstest.MapFS{rule.ID() + ".txtar": {Data: archive}}}
			example, ok := explain.Of(&copied)
			if !ok {
				t.Fatalf("%s has no example", rule.ID())
			}
			return example
		}
		if diff := cmp.Diff(of(whole), of(short)); diff != "" {
			t.Errorf("%s: whole (-) and brief (+) differ:\n%s", rule.ID(), diff)
		}
	}
}
