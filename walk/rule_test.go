package walk_test

import (
	"strings"
	"testing"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/walk"
)

// TestRule: a linter with the rule reports what does not hold, at the listener that takes the request.
func TestRule(t *testing.T) {
	const tests = `
given: {sni: shop.example.com, authority: shop.example.com}
tests:
- {name: the cart, given: {path: /cart}, expect: {cluster: cart}}
- {name: the basket, given: {path: /cart}, expect: {cluster: basket}}
`
	for _, c := range []struct{ input, tests, want string }{
		{"../testdata/walk/edge.yaml", tests, `edge: the basket: cluster is "cart", not "basket"`},
		{"../testdata/walk/shop.yaml", "tests: [{given: {listener: none, path: /}, expect: {status: 200}}]", "shop: the tests cannot be run: tests:1:17: choose one of these listeners: shop (port 8080)"},
		{"../testdata/walk/grpc.yaml", tests, ""}, // it does not have listeners for requests over HTTP
	} {
		rule, err := walk.Rule(c.tests)
		if err != nil {
			t.Fatal(err)
		}
		linter, err := xdslint.New(xdslint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, _, err := linter.Snapshot(t.Context(), xdslint.Paths(c.input))
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, d := range lint.Run(t.Context(), []*graph.Snapshot{s}, lint.Config{Rules: []*lint.Rule{rule}}).Diagnostics {
			found = append(found, d.Resource.Name+": "+d.Message)
		}
		if got := strings.Join(found, "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.input, got, c.want)
		}
	}
}

// TestRuleRejects: tests that make no sense are not a rule.
func TestRuleRejects(t *testing.T) {
	if _, err := walk.Rule("tests: [{given: {path: /}}]"); err == nil || !strings.Contains(err.Error(), `a test needs "expect"`) {
		t.Error(err)
	}
}
