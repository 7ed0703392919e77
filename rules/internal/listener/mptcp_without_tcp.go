package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "mptcp-without-tcp",
	Severity: lint.Error,
	Summary:  "enable_mptcp on a listener with UDP or Unix sockets",
	Links:    []string{"ListenerImpl::validateConfig (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if !l.GetEnableMptcp() || l.GetInternalListener() != nil {
			return
		}
		if overUDP(l) {
			p.Reject(at.Field("enable_mptcp").Key(), lint.Rejection{
				Message:  "enable_mptcp is only for TCP, but this is a UDP listener",
				Help:     "remove it",
				Upstream: "enable_mptcp can only be used with TCP listeners",
			})
			return
		}
		for _, a := range addresses(at, l) {
			if a.GetPipe() != nil {
				p.Reject(at.Field("enable_mptcp").Key(), lint.Rejection{
					Message:  "enable_mptcp is only for TCP, but this listener has a Unix socket",
					Help:     "remove it",
					Upstream: "enable_mptcp can only be used with IP addresses",
					Related:  []lint.Related{lint.RelatedTo(a.at, "the Unix socket")},
				})
				return
			}
		}
	}),
})
