package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "address-missing",
	Severity: lint.Error,
	Summary:  "a listener has no address",
	Links:    []string{"ListenerManagerImpl::addOrUpdateListener (source/common/listener_manager/listener_manager_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if at.Place.Parent != nil || at.Resource().State != "" || l.GetApiListener() != nil || built(l) ||
			misplaced(p, at, "address") {
			return
		}
		p.ReportResource(at.Resource(), lint.Diagnostic{
			Message:  "the listener has no address",
			Notes:    []string{envoy.OnReject(at.Resource())},
			Help:     "add address: {socket_address: {address: …, port_value: …}}",
			Rejected: true, Upstream: "address is necessary",
		})
	}),
})
