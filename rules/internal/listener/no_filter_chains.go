package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-filter-chains",
	Severity: lint.Error,
	Summary:  "a TCP or QUIC listener has no filter chain, or a plain UDP listener has one",
	Links:    []string{"ListenerImpl::validateFilterChains (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		has := len(l.GetFilterChains()) > 0 || l.GetDefaultFilterChain() != nil
		plain := overUDP(l) && !quicOptions(l)
		switch {
		case plain && has:
			at = at.Field("filter_chains")
			if len(l.GetFilterChains()) == 0 {
				at = at.Field("default_filter_chain")
			}
			p.Report(at.Key(), lint.Diagnostic{
				Message:  "a UDP listener cannot have filter chains",
				Notes:    []string{envoy.OnReject(at.Resource())},
				Help:     "move the filters for datagrams to listener_filters, or for QUIC add udp_listener_config.quic_options",
				Rejected: true, Upstream: "filter chain(s) specified for connection-less UDP listener",
			})
		case !plain && !has && (l.GetFcdsConfig() == nil || p.Target.Before("1.40")) &&
			!misplaced(p, at, "filter_chains") && !misplaced(p, at, "default_filter_chain"):
			p.ReportResource(at.Resource(), lint.Diagnostic{
				Message:  "the listener has no filter chain",
				Notes:    []string{envoy.OnReject(at.Resource())},
				Help:     "add filter_chains or a default_filter_chain",
				Rejected: true, Upstream: "no filter chains specified",
			})
		}
	}),
})
