package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "mixed-protocols",
	Severity: lint.Error,
	Summary:  "an additional address of a listener has another protocol than its main address",
	Links:    []string{"ListenerImpl::ListenerImpl (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if l.GetInternalListener() != nil {
			return
		}
		for i, a := range l.GetAdditionalAddresses() {
			if datagram(a.GetAddress()) == overUDP(l) {
				continue
			}
			p.Report(at.Item("additional_addresses", i).Field("address"), lint.Diagnostic{
				Message:  "this address and the listener's main address have different protocols",
				Notes:    []string{envoy.OnReject(at.Resource())},
				Help:     "use the same protocol, or move this address to another listener",
				Rejected: true, Upstream: "has different socket type. The listener only support same socket type for all the addresses",
				Related: []lint.Related{lint.RelatedTo(at.Field("address"), "the main address")},
			})
		}
	}),
})
