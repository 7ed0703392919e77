package transition

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "listener-full-drain",
	Severity: lint.Info,
	Summary:  "all connections of a listener drain",
	Links: []string{
		"ListenerImpl::supportUpdateFilterChain, ListenerMessageUtil::filterChainOnlyChange (source/common/listener_manager/listener_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/operations/draining",
		"https://github.com/envoyproxy/envoy/issues/27452",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, change := range changes.Of(graph.Listener) {
			if d := envoy.DrainOf(change); d.All && (change.Removed() || d.Why != "") && !rejectedRebind(change) {
				reportFullDrain(p, change, d)
			}
		}
	}),
})

func reportFullDrain(p *lint.Pass, change *graph.Change, d envoy.Drain) {
	severity, note := drained(p, d)
	notes := []string{note}
	if change.Removed() {
		if left, ok := unserved(change, addressesAfter(p)); ok {
			notes = append(notes, fmt.Sprintf("new connections to %s fail (connection refused)", left))
		}
		p.ReportResource(change.Old, lint.Diagnostic{
			Severity: severity, Message: fmt.Sprintf("listener %q is removed, and its connections drain", change.Name), Notes: notes,
		})
		return
	}
	if rebinds(change) {
		severity, notes = lint.Warning, append(notes, "Envoy opens new sockets: connections that are not yet accepted at that "+
			"moment are reset")
	}
	p.Report(fieldOf(change, d.Why), lint.Diagnostic{
		Severity: severity,
		Message:  fmt.Sprintf("%s changes, so Envoy replaces listener %q: all its connections drain", d.Why, change.Name),
		Notes:    notes,
	})
}

// fieldOf returns a field of the new resource, or of the old one if the new one does not set it.
func fieldOf(change *graph.Change, name string) lint.At {
	r := change.New
	if m := r.Message.ProtoReflect(); !m.Has(m.Descriptor().Fields().ByName(protoreflect.Name(name))) {
		r = change.Old
	}
	return r.At().Field(name).Key()
}

// rejectedRebind reports whether an update needs other sockets while the port can be bound only once: Envoy rejects it.
func rejectedRebind(change *graph.Change) bool {
	if !change.Changed() || !rebinds(change) {
		return false
	}
	after, _ := change.New.Message.(*listenerv3.Listener)
	return !envoy.ReusesPort(after)
}

// rebinds reports whether a listener that keeps its address gets new sockets for it.
func rebinds(change *graph.Change) bool {
	before, _ := change.Old.Message.(*listenerv3.Listener)
	after, _ := change.New.Message.(*listenerv3.Listener)
	if socketsKept(before, after) || !binds(change.Old) || !binds(change.New) {
		return false
	}
	kept := socketsOf(change.New)
	for _, b := range socketsOf(change.Old) {
		if !b.datagram && has(kept, b.socket) {
			return true
		}
	}
	return false
}
