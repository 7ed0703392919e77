package admission_test

import (
	"context"
	"testing"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/custom"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

const customRules = `
constraints:
- id: acme/connect-timeout
  message: envoy.config.cluster.v3.Cluster
  field: connect_timeout
  expression: this < duration('5s')
  text: who waits that long has left
- id: acme/shared-clusters
  snapshot: cluster
  expression: this.reached_by('route_configuration').size() < 2
  text: two tables lead to it
- id: acme/unlucky
  message: envoy.config.cluster.v3.Cluster
  expression: 7 / (this.name.size() - 8) != 7
  text: it is lucky
`

func customRulesOf(t *testing.T) []*lint.Rule {
	t.Helper()
	s, err := config.Parse(&source.File{Name: config.FileName, Text: []byte(customRules)}, rules.All(), custom.Constraints(rules.All(), nil))
	if err != nil {
		t.Fatal(err)
	}
	return s.Custom
}

// TestCustomRules: the gate judges by custom rules as by built-in ones. If one fails on a new snapshot, that is an error like any other: the
// resource on which it fails is withheld.
func TestCustomRules(t *testing.T) {
	plugin := &lint.Rule{Group: "acme", Name: "crashes", Origin: &lint.Origin{Name: "plugin crashes.wasm", File: &source.File{Name: "crashes.wasm"}}}
	judge := func(_ context.Context, passes []*lint.Pass) *lint.EvalError {
		if passes[0].Snapshot.Find(graph.Cluster, graph.Anywhere, "crash") != nil {
			return &lint.EvalError{Message: "crashed"}
		}
		return nil
	}
	plugin.Run = lint.ForOrigin(func() lint.Judge { return judge })
	g := try(t, func(o *admission.Options) { o.Rules = append(append(rules.Builtin(), customRulesOf(t)...), plugin) })
	g.must(admission.Admitted, snapshot(t, "v1", good()...))
	g.must(admission.Quarantined, snapshot(t, "v2", plus(slow(eds("shop")))...), "cluster shop keeps its version")
	g.must(admission.Quarantined, snapshot(t, "v3", plus(table("public", "shop"), table("private", "shop"), listener("private", 8081, "private"))...),
		"listener private is left out", "route_configuration private is left out")
	g.must(admission.Quarantined, snapshot(t, "v4", plus(eds("payments"), endpoints("payments", 80))...),
		"cluster payments is left out", "cluster_load_assignment payments is left out")
	g.must(admission.Quarantined, snapshot(t, "v5", plus(eds("crash"), endpoints("crash", 80))...),
		"cluster crash is left out", "cluster_load_assignment crash is left out")
	g.must(admission.Admitted, snapshot(t, "v6", plus(eds("pay"), endpoints("pay", 80))...))
}

// TestUnableBefore: if a custom rule failed on what the node has, its findings are not new, since the node may have had them before.
func TestUnableBefore(t *testing.T) {
	g := try(t, func(o *admission.Options) {
		o.Rules = append(append(rules.Builtin(), lint.CannotJudge), customRulesOf(t)...)
		o.Policies = []admission.RulePolicy{{Selector: "house", Policy: admission.Observe}}
	})
	old := func(more ...types.Resource) []types.Resource {
		return plus(append(more, eds("nine-long"), endpoints("nine-long", 80))...)
	}
	g.must(admission.Observed, snapshot(t, "v1", old(eds("payments"), endpoints("payments", 80))...))
	g.must(admission.Admitted, snapshot(t, "v2", old()...))
	g.must(admission.Quarantined, snapshot(t, "v3", old(eds("new-nines"), endpoints("new-nines", 80))...),
		"cluster new-nines is left out", "cluster_load_assignment new-nines is left out")
}
