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
	Summary:  "a live listener changes enable_reuse_port, or its sockets while that is false",
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
					Message: fmt.Sprintf("enable_reuse_port of listener %q changes from %t to %t",
						change.Name, envoy.ReusesPort(before), envoy.ReusesPort(after)),
					Notes: []string{rejectedUpdate},
					Help:  "keep the old value, or give the listener another name: Envoy then reuses the sockets",
				})
			case rejectedRebind(change):
				p.Report(fieldOf(change, "enable_reuse_port"), lint.Diagnostic{
					Message: fmt.Sprintf("listener %q needs new sockets, but without enable_reuse_port its address cannot be bound twice",
						change.Name),
					Notes: []string{rejectedUpdate},
					Help: "remove the listener, wait until Envoy ACKs that, then add the new one; in between, new " +
						"connections fail (connection refused)",
				})
			}
		}
	}),
})

const rejectedUpdate = "Envoy rejects the update (NACK) and keeps the old listener, without any of its changes"
