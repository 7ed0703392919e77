package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "scope-key-moved",
	Severity: lint.Error,
	Summary:  "a scope takes the key of another scope",
	Links: []string{
		"ScopedConfigImpl::addOrUpdateRoutingScopes (source/common/router/scoped_config_impl.cc)",
		"ScopedRdsConfigSubscription::onConfigUpdate (source/common/router/scoped_rds.cc)",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, m := range envoy.KeyMoves(changes) {
			if p.Old.Serves(m.From.Old) && p.Snapshot.Serves(m.To.New) {
				reportKey(p, m.From, m.To)
			}
		}
	}),
})

func reportKey(p *lint.Pass, left, taken *graph.Change) {
	d := lint.Diagnostic{
		Message: fmt.Sprintf("scope %q takes the key of scope %q, which gets another key", taken.Name, left.Name),
		Notes: []string{"Envoy removes the old key of each scope in turn: if the key is taken before it is left, it is lost, and Envoy answers its " +
			"requests with 404 (response flag NR) until one of the scopes changes again, although config_dump shows the key"},
		Help:    "give the key to a scope with a new name, and remove the old scopes in the same push: `xdslint plan` does",
		Related: []lint.Related{lint.RelatedTo(left.Old.At().Field("key"), "it had the key before the push")},
	}
	if left.Removed() {
		d.Severity = lint.Warning
		d.Message = fmt.Sprintf("scope %q takes the key of scope %q, which is removed", taken.Name, left.Name)
		d.Notes = []string{"Envoy removes scopes before it adds others: in between, for a moment, it answers requests with " +
			"404 (response flag NR)"}
		d.Help = "keep the name of the scope, and change only what it refers to"
	}
	p.Report(taken.New.At().Field("key"), d)
}
