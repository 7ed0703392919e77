package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "mixed-protocols",
	Severity: lint.Error,
	Summary:  "an additional address of a listener has another protocol than its address",
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
				Message:  "the listener's address and this one differ in protocol",
				Notes:    []string{envoy.OnReject(at.Resource())},
				Help:     "write the same protocol, or make it a listener of its own",
				Rejected: true, Upstream: "has different socket type. The listener only support same socket type for all the addresses",
				Related: []lint.Related{lint.RelatedTo(at.Field("address"), "the listener's address")},
			})
		}
	}),
})
