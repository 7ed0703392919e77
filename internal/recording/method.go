package recording

import (
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/rest"
)

// service is a service of xDS.
type service struct {
	typeURL string // empty: all types
	calls   string // the names of its methods, after Stream and Delta
}

const prefix = "type.googleapis.com/"

var services = map[string]service{
	"envoy.service.discovery.v3.AggregatedDiscoveryService":      {"", "AggregatedResources"},
	"envoy.service.cluster.v3.ClusterDiscoveryService":           {prefix + "envoy.config.cluster.v3.Cluster", "Clusters"},
	"envoy.service.endpoint.v3.EndpointDiscoveryService":         {prefix + "envoy.config.endpoint.v3.ClusterLoadAssignment", "Endpoints"},
	"envoy.service.endpoint.v3.LocalityEndpointDiscoveryService": {prefix + "envoy.config.endpoint.v3.LbEndpoint", "LocalityEndpoints"},
	"envoy.service.listener.v3.ListenerDiscoveryService":         {prefix + "envoy.config.listener.v3.Listener", "Listeners"},
	"envoy.service.route.v3.RouteDiscoveryService":               {prefix + "envoy.config.route.v3.RouteConfiguration", "Routes"},
	"envoy.service.route.v3.ScopedRoutesDiscoveryService":        {prefix + "envoy.config.route.v3.ScopedRouteConfiguration", "ScopedRoutes"},
	"envoy.service.route.v3.VirtualHostDiscoveryService":         {prefix + "envoy.config.route.v3.VirtualHost", "VirtualHosts"},
	"envoy.service.secret.v3.SecretDiscoveryService":             {prefix + "envoy.extensions.transport_sockets.tls.v3.Secret", "Secrets"},
	"envoy.service.runtime.v3.RuntimeDiscoveryService":           {prefix + "envoy.service.runtime.v3.Runtime", "Runtime"},
	"envoy.service.extension.v3.ExtensionConfigDiscoveryService": {prefix + "envoy.config.core.v3.TypedExtensionConfig", "ExtensionConfigs"},
}

// Stream says what a gRPC method opens: a stream of xDS, or something else. The polls of a client at a path of REST count
// as a stream.
func Stream(method string) (opened protocol.Opened, ok bool) {
	if kind, ok := rest.Kind(method); ok {
		return protocol.Opened{REST: true, TypeURL: graph.TypeURL(kind)}, true
	}
	name, call, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	s, ok := services[name]
	switch {
	case !ok:
		return opened, false
	case strings.HasPrefix(call, "Delta"):
		opened.Delta = true
	case !strings.HasPrefix(call, "Stream"):
		return opened, false
	}
	opened.TypeURL = s.typeURL
	return opened, true
}

// Method returns the gRPC method that opens a stream, empty if there is none.
func Method(o protocol.Opened) string {
	form := "/Stream"
	if o.Delta {
		form = "/Delta"
	}
	for name, s := range services {
		if s.typeURL == o.TypeURL && !o.REST {
			return "/" + name + form + s.calls
		}
	}
	return ""
}
