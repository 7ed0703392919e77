package transition

import (
	"fmt"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "address-takeover",
	Severity: lint.Warning,
	Summary:  "a listener takes an address that another listener has before the push",
	Links: []string{
		"LdsApiImpl::onConfigUpdate (source/common/listener_manager/lds_api.cc)",
		"ListenerManagerImpl::setNewOrDrainingSocketFactory (source/common/listener_manager/listener_manager_impl.cc)",
		"https://github.com/cilium/cilium/issues/48614",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		owners := map[socket]*graph.Change{}
		for _, change := range changes.Of(graph.Listener) {
			if !change.Added() {
				for _, b := range socketsOf(change.Old) {
					owners[b.socket] = change
				}
			}
		}
		told := map[*graph.Change]bool{}
		for _, change := range changes.Of(graph.Listener) {
			if change.New != nil && !told[change] {
				takes(p, owners, change, told)
			}
		}
	}),
})

// takes reports the first address of another listener that the changed one takes.
func takes(p *lint.Pass, owners map[socket]*graph.Change, change *graph.Change, told map[*graph.Change]bool) {
	for _, b := range socketsOf(change.New) {
		owner := owners[b.socket]
		if owner == nil || owner == change || owner.Changed() && has(socketsOf(owner.New), b.socket) {
			continue // listener/duplicate-address reports addresses that the owner keeps
		}
		related := lint.RelatedTo(owned(owner, b.socket), "its address before the push")
		switch circle := circleOf(owners, change); {
		case owner.Removed():
			takeRemoved(p, change, owner, b, related)
		case len(circle) > 0:
			for _, each := range circle {
				told[each] = true
			}
			p.Report(b.at, lint.Diagnostic{
				Severity: lint.Error,
				Message:  fmt.Sprintf("listeners %s exchange their addresses, which Envoy rejects", quoted(circle)),
				Notes: []string{"each keeps its address until it has the new one, so Envoy rejects all of them " +
					"(NACK: duplicate address), however often they are sent, and keeps the old ones"},
				Help:    "move one of them to a free address first, and push the others after Envoy has ACKed that",
				Related: []lint.Related{related},
			})
		default:
			takeMoving(p, change, owner, b, related)
		}
		return
	}
}

// takeRemoved reports a takeover from a removed listener: Envoy passes the sockets on in one response, so connections wait
// only if the new listener has to warm.
func takeRemoved(p *lint.Pass, change, owner *graph.Change, b bound, related lint.Related) {
	needs := unheld(p, change)
	if needs == nil {
		return
	}
	p.Report(b.at, lint.Diagnostic{
		Severity: lint.Info,
		Message: fmt.Sprintf("listener %q takes %s from %q, but must wait for %s %q",
			change.Name, b, owner.Name, spoken(needs.Kind), needs.Target),
		Notes: []string{"Envoy accepts new connections only when it has that, a round trip to the control plane later; they " +
			"wait, and none fails"},
		Related: []lint.Related{related},
	})
}

func takeMoving(p *lint.Pass, change, owner *graph.Change, b bound, related lint.Related) {
	d := lint.Diagnostic{
		Message: fmt.Sprintf("listener %q takes %s, which %q leaves only in the same push", change.Name, b, owner.Name),
		Help: fmt.Sprintf("move %q first, and push %q after Envoy has ACKed that; in between, connections to the address fail",
			owner.Name, change.Name),
		Related: []lint.Related{related},
	}
	if needs := unheld(p, owner); needs != nil {
		d.Notes = []string{fmt.Sprintf("%q keeps the address until it has %s %q, so Envoy rejects %q (NACK: duplicate address)",
			owner.Name, spoken(needs.Kind), needs.Target, change.Name)}
	} else {
		d.Notes = []string{fmt.Sprintf("if %q comes before %q in the response, Envoy rejects it (NACK: duplicate address)",
			change.Name, owner.Name)}
	}
	if p.Push.Transport.Incremental() {
		d.Notes = append(d.Notes, fmt.Sprintf("go-control-plane does not send a rejected delta again: connections to %s fail "+
			"until the listener changes once more", b))
	} else {
		d.Notes = append(d.Notes, fmt.Sprintf("connections to %s fail until the server has sent it again", b))
	}
	p.Report(b.at, d)
}

// unheld returns the first reference of the new listener to a resource that Envoy did not request before: the listener warms
// until it has that resource.
func unheld(p *lint.Pass, change *graph.Change) *graph.Edge {
	for _, e := range p.Snapshot.From(change.New) {
		switch e.Kind {
		case graph.RouteConfiguration, graph.Secret, graph.ExtensionConfig:
			if before := p.Old.Find(e.Kind, graph.Anywhere, e.Target); before == nil || !p.Old.Serves(before) {
				return e
			}
		}
	}
	return nil
}

// circleOf returns the listeners that take each other's addresses in a circle, beginning with from; nil if there is no circle.
func circleOf(owners map[socket]*graph.Change, from *graph.Change) (circle []*graph.Change) {
	seen := map[*graph.Change]bool{}
	for at := from; at != nil && !seen[at]; {
		seen[at] = true
		circle = append(circle, at)
		next := at
		for _, b := range socketsOf(at.New) {
			if owner := owners[b.socket]; owner != nil && owner != at && owner.Changed() && !has(socketsOf(owner.New), b.socket) {
				next = owner
				break
			}
		}
		if next == from && at != from {
			return circle
		}
		at = next
	}
	return nil
}

func quoted(changes []*graph.Change) string {
	var names []string
	for _, change := range changes {
		names = append(names, change.Name)
	}
	return words.And(words.Quoted(names))
}

// owned returns the field of the old listener that holds a socket.
func owned(change *graph.Change, s socket) lint.At {
	for _, b := range socketsOf(change.Old) {
		if b.socket == s {
			return b.at
		}
	}
	return change.Old.At()
}
