package transition

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "reuse-port-flip",
	Severity: lint.Error,
	Summary:  "a live listener cannot change enable_reuse_port, nor without it its sockets",
	Why: "`enable_reuse_port`" + ` is part of how a socket is bound, so Envoy refuses an update that changes it ("reuse port cannot be changed during an update"). Not set
means true: a control plane that begins to write false, or no longer writes it, flips it.

Where it is false, the port can be bound only once. Then Envoy also refuses an update for which it needs other sockets on an address that the listener has already: one
more or one less of ` + "`additional_addresses`" + `, another socket option ("has duplicate address … as existing listener").

The old listener stays, with all that was to change in it, while the other listeners of the response are applied. go-control-plane sends the refused state of the world again at
once, and again; deltas it does not repeat.

A listener under another name is no update. With the same address it takes over the sockets of the one that goes, as these were bound: the flag takes effect
only when Envoy is restarted.`,
	Links: []string{
		"ListenerManagerImpl::setupSocketFactoryForListener, hasListenerWithDuplicatedAddress (source/common/listener_manager/listener_manager_impl.cc)",
		"https://github.com/kumahq/kuma/issues/16764",
	},
	Run: lint.Between(func(p *lint.Pass, changes *graph.Changes) {
		for _, change := range changes.Of(graph.Listener) {
			if !change.Changed() {
				continue
			}
			before, isListener := change.Old.Message.(*listenerv3.Listener)
			after, same := change.New.Message.(*listenerv3.Listener)
			if !isListener || !same || before.GetInternalListener() != nil || after.GetInternalListener() != nil {
				continue
			}
			switch {
			case envoy.ReusePortFlips(change):
				p.Report(fieldOf(change, "enable_reuse_port"), lint.Diagnostic{
					Message: fmt.Sprintf("enable_reuse_port of listener %q goes from %t to %t", change.Name, envoy.ReusesPort(before), envoy.ReusesPort(after)),
					Notes:   []string{refusedUpdate},
					Help:    "leave it as it is, or give the listener another name: envoy then takes over the sockets",
				})
			case refusedAnew(change):
				p.Report(fieldOf(change, "enable_reuse_port"), lint.Diagnostic{
					Message: fmt.Sprintf("listener %q needs other sockets, and without enable_reuse_port its address cannot be bound a second time", change.Name),
					Notes:   []string{refusedUpdate},
					Help:    "remove the listener, wait until envoy ACKs that, then add it as it is to be; new connections are refused in between",
				})
			}
		}
	}),
})

const refusedUpdate = "envoy refuses the update (NACK) and keeps the old listener, with all else that was to change in it"
