package transition

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

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
		all := changes.Of(graph.ScopedRouteConfiguration)
		for _, left := range all {
			if left.Added() || !p.Old.Serves(left.Old) {
				continue
			}
			for _, taken := range all {
				if taken != left && !taken.Removed() && keyOf(left.Old) != nil && proto.Equal(keyOf(left.Old), keyOf(taken.New)) && p.Snapshot.Serves(taken.New) {
					reportKey(p, left, taken)
				}
			}
		}
	}),
})

func keyOf(r *graph.Resource) *routev3.ScopedRouteConfiguration_Key {
	scope, _ := r.Message.(*routev3.ScopedRouteConfiguration)
	return scope.GetKey()
}

func reportKey(p *lint.Pass, left, taken *graph.Change) {
	d := lint.Diagnostic{
		Message: fmt.Sprintf("scope %q takes the key of scope %q, which gets another key", taken.Name, left.Name),
		Notes: []string{"envoy removes the old key of each scope in turn: if the key is taken before it is left, it is lost, and envoy answers its " +
			"requests with 404 (response flag NR) until one of the scopes changes again, although config_dump shows the key"},
		Help:    "give the key to a scope with a new name, and remove the old scopes in the same push: `xdslint plan` does",
		Related: []lint.Related{lint.RelatedTo(left.Old.At().Field("key"), "it had the key before the push")},
	}
	if left.Removed() {
		d.Severity = lint.Warning
		d.Message = fmt.Sprintf("scope %q takes the key of scope %q, which is removed", taken.Name, left.Name)
		d.Notes = []string{"envoy removes scopes before it adds others: in between, for a moment, it answers requests with " +
			"404 (response flag NR)"}
		d.Help = "keep the name of the scope, and change only what it refers to"
	}
	p.Report(taken.New.At().Field("key"), d)
}
