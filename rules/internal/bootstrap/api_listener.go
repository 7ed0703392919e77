package bootstrap

import (
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "api-listener",
	Severity: lint.Error,
	Summary:  "a listener for Envoy has an api_listener",
	Links:    []string{"ListenerManagerImpl::addOrUpdateListener (source/common/listener_manager/listener_manager_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		if at.Place.Parent != nil || at.Resource().State != "" || l.GetApiListener() == nil {
			return
		}
		const help = "write an address and filter_chains"
		upstream := "error adding listener named '" + l.GetName() + "': "
		at = at.Field("api_listener").Key()
		switch {
		case l.GetInternalListener() != nil:
			p.Reject(at, lint.Rejection{
				Message:  "api_listener cannot be combined with internal_listener",
				Help:     "remove api_listener",
				Upstream: upstream + "api_listener and internal_listener cannot be both set",
			})
		case at.Resource().Delivery == graph.FromBootstrap:
			p.Reject(at, lint.Rejection{
				Message:  "Envoy's official builds do not support api_listener",
				Help:     help,
				Upstream: upstream + "missing the API listener extension",
			})
		}
	}),
})
