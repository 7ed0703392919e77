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
	Summary:  "a listener moves to another address, and no listener takes its old one",
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

// addressesAfter lists the sockets of all listeners in the new snapshot, including those of the bootstrap.
func addressesAfter(p *lint.Pass) (all []bound) {
	for _, r := range p.Snapshot.All(graph.Listener) {
		all = append(all, socketsOf(r)...)
	}
	return all
}

// unserved returns the first address of the old listener that no listener has after the push.
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
		Message: fmt.Sprintf("listener %q moves from %s to %s", change.Name, left, goes[0]),
		Notes: []string{fmt.Sprintf("new connections to %s fail (connection refused) as soon as the listener is at its new "+
			"address; open ones drain", left)},
		Help:    "add a listener with another name for the new address, and remove this one when no client connects to it any more",
		Related: []lint.Related{lint.RelatedTo(left.at, "the address before the push")},
	})
}
