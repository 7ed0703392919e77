package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "fcds-unfit",
	Severity: lint.Error,
	Summary:  "a listener with fcds_config has no matcher, no source for the chains, or speaks QUIC",
	Links:    []string{"ListenerImpl::buildFilterChains (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		fcds, own := l.GetFcdsConfig(), at.Field("fcds_config")
		switch {
		case fcds == nil, p.Target.Before("1.40"):
		case l.GetFilterChainMatcher() == nil:
			p.Reject(own.Key(), lint.Rejection{
				Message:  "fcds_config needs a filter_chain_matcher",
				Help:     "add filter_chain_matcher, with the names of the chains as its actions",
				Upstream: "FCDS requires a filter chain matcher",
			})
		case overQUIC(l):
			p.Reject(own.Key(), lint.Rejection{
				Message:  "a QUIC listener has its filter chains in filter_chains alone",
				Help:     "leave out fcds_config",
				Upstream: "FCDS does not support QUIC filter chains",
			})
		case fcds.GetConfigSource() == nil:
			p.Reject(own.Key(), lint.Rejection{
				Message:  "fcds_config does not say where the filter chains come from",
				Help:     "add config_source: {ads: {}, resource_api_version: V3}",
				Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
			})
		}
	}),
})
