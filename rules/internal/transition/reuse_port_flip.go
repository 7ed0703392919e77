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
	Links: []string{
		"ListenerManagerImpl::setupSocketFactoryForListener, hasListenerWithDuplicatedAddress (source/common/listener_manager/listener_manager_impl.cc)",
		"https://github.com/kumahq/kuma/issues/16764",
	},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
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
