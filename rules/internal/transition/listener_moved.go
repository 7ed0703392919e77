package transition

import (
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "listener-moved",
	Severity: lint.Warning,
	Summary:  "a listener leaves its address, and nothing takes it",
	Links:    []string{"ListenerImpl::hasCompatibleAddress (source/common/listener_manager/listener_impl.cc)"},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		after := addressesAfter(p)
		for _, change := range changes.Of(graph.Listener) {
			if change.Changed() && binds(change.Old) && !envoy.ReusePortFlips(change) {
				reportMove(p, change, after)
			}
		}
	}),
})

// addressesAfter lists where the listeners of the new snapshot accept connections, those of the bootstrap too.
func addressesAfter(p *lint.Pass) (all []bound) {
	for _, r := range p.Snapshot.All(graph.Listener) {
		all = append(all, socketsOf(r)...)
	}
	return all
}

// unserved is the first address of a listener that none has after the push.
func unserved(change *graph.Change, after []bound) (left bound, found bool) {
	for _, left := range socketsOf(change.Old) {
		if !slices.ContainsFunc(after, func(b bound) bool { return left.coveredBy(b.socket) }) {
			return left, true
		}
	}
	return bound{}, false
}

func reportMove(p *lint.Pass, change *graph.Change, after []bound) {
	left, found := unserved(change, after)
	goes := socketsOf(change.New)
	if !found || len(goes) == 0 {
		return
	}
	p.Report(goes[0].at, lint.Diagnostic{
		Message: fmt.Sprintf("listener %q leaves %s for %s", change.Name, left, goes[0]),
		Notes:   []string{fmt.Sprintf("new connections to %s are refused as soon as the listener is at its new address; open ones drain", left)},
		Help:    "add the new address as a listener of another name, and remove this one when nobody connects to it any more",
		Related: []lint.Related{lint.RelatedTo(left.at, "the address so far")},
	})
}
