package hardening

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	limitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/connection_limit/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "no-connection-limit",
	Profiles: map[lint.Profile]lint.Severity{lint.Edge: lint.Info},
	Summary:  "the connections of a listener are not limited",
	Links: []string{
		edgeDocs,
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/listeners/runtime",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/listeners/network_filters/connection_limit_filter",
	},
	Run: eachListener(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		key := "envoy.resource_limits.listener." + l.GetName() + ".connection_limit"
		if l.GetName() == "" || inRuntime(p, key) || limitsConnections(at, l) {
			return
		}
		p.Report(at.Field("name"), lint.Diagnostic{
			Message: fmt.Sprintf("the connections of listener %q are not limited", l.GetName()),
			Notes:   []string{"the clients of one listener can take the connections of all others"},
			Help:    fmt.Sprintf("set the runtime key %s, or add the network filter connection_limit", key),
		})
	}),
})

// limitsConnections reports whether a filter limits connections.
func limitsConnections(at lint.At, l *listenerv3.Listener) bool {
	for i, c := range l.GetFilterChains() {
		if limits(at.Item("filter_chains", i), c) {
			return true
		}
	}
	return limits(at.Field("default_filter_chain"), l.GetDefaultFilterChain())
}

func limits(at lint.At, c *listenerv3.FilterChain) bool {
	for i, f := range c.GetFilters() {
		config, _ := envoy.Content(at.Item("filters", i).Field("typed_config"), f.GetTypedConfig())
		if _, is := config.(*limitv3.ConnectionLimit); is {
			return true
		}
	}
	return false
}
