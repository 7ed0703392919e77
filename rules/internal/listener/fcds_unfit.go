package listener

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "fcds-unfit",
	Severity: lint.Error,
	Summary:  "a listener with fcds_config has no matcher, has no source for the chains, or speaks QUIC",
	Links:    []string{"ListenerImpl::buildFilterChains (source/common/listener_manager/listener_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		fcds, own := l.GetFcdsConfig(), at.Field("fcds_config")
		switch {
		case fcds == nil, p.Target.Before("1.40"):
		case l.GetFilterChainMatcher() == nil:
			p.Reject(own.Key(), lint.Rejection{
				Message:  "fcds_config needs a filter_chain_matcher",
				Help:     "add a filter_chain_matcher whose actions are the names of the chains",
				Upstream: "FCDS requires a filter chain matcher",
			})
		case overQUIC(l):
			p.Reject(own.Key(), lint.Rejection{
				Message:  "a QUIC listener cannot get filter chains over fcds_config",
				Help:     "remove fcds_config, and write filter_chains",
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
