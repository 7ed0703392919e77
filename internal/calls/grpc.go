package calls

import (
	"strings"

	"github.com/xdslint/xdslint/graph"
)

// service is a service of xDS.
type service struct {
	name  string
	calls string // the names of its methods, after Stream and Delta
}

// services are those of the kinds. The one without a kind is for all of them.
var services = map[graph.Kind]service{
	"":                             {"discovery.v3.AggregatedDiscoveryService", "AggregatedResources"},
	graph.Cluster:                  {"cluster.v3.ClusterDiscoveryService", "Clusters"},
	graph.ClusterLoadAssignment:    {"endpoint.v3.EndpointDiscoveryService", "Endpoints"},
	graph.LbEndpoint:               {"endpoint.v3.LocalityEndpointDiscoveryService", "LocalityEndpoints"},
	graph.Listener:                 {"listener.v3.ListenerDiscoveryService", "Listeners"},
	graph.RouteConfiguration:       {"route.v3.RouteDiscoveryService", "Routes"},
	graph.ScopedRouteConfiguration: {"route.v3.ScopedRoutesDiscoveryService", "ScopedRoutes"},
	graph.VirtualHost:              {"route.v3.VirtualHostDiscoveryService", "VirtualHosts"},
	graph.Secret:                   {"secret.v3.SecretDiscoveryService", "Secrets"},
	graph.Runtime:                  {"runtime.v3.RuntimeDiscoveryService", "Runtime"},
	graph.ExtensionConfig:          {"extension.v3.ExtensionConfigDiscoveryService", "ExtensionConfigs"},
}

func (s service) method(form string) string { return "/envoy.service." + s.name + "/" + form + s.calls }

// Method returns the method that opens a stream for a kind; for an empty one, an aggregated stream.
func Method(kind graph.Kind, delta bool) string {
	if delta {
		return services[kind].method("Delta")
	}
	return services[kind].method("Stream")
}

// Stream says what a method opens a stream for; an empty kind: an aggregated one.
func Stream(method string) (kind graph.Kind, delta, ok bool) {
	for kind, s := range services {
		if form, found := strings.CutPrefix(method, strings.TrimSuffix(s.method(""), s.calls)); found {
			return kind, strings.HasPrefix(form, "Delta"), strings.HasPrefix(form, "Delta") || strings.HasPrefix(form, "Stream")
		}
	}
	return "", false, false
}
