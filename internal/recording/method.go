package recording

import (
	"strings"

	"github.com/xdslint/xdslint/internal/protocol"
)

// services are the services of xDS, and the types of those that have one.
var services = map[string]string{
	"envoy.service.discovery.v3.AggregatedDiscoveryService":      "",
	"envoy.service.cluster.v3.ClusterDiscoveryService":           "envoy.config.cluster.v3.Cluster",
	"envoy.service.endpoint.v3.EndpointDiscoveryService":         "envoy.config.endpoint.v3.ClusterLoadAssignment",
	"envoy.service.endpoint.v3.LocalityEndpointDiscoveryService": "envoy.config.endpoint.v3.LbEndpoint",
	"envoy.service.listener.v3.ListenerDiscoveryService":         "envoy.config.listener.v3.Listener",
	"envoy.service.route.v3.RouteDiscoveryService":               "envoy.config.route.v3.RouteConfiguration",
	"envoy.service.route.v3.ScopedRoutesDiscoveryService":        "envoy.config.route.v3.ScopedRouteConfiguration",
	"envoy.service.route.v3.VirtualHostDiscoveryService":         "envoy.config.route.v3.VirtualHost",
	"envoy.service.secret.v3.SecretDiscoveryService":             "envoy.extensions.transport_sockets.tls.v3.Secret",
	"envoy.service.runtime.v3.RuntimeDiscoveryService":           "envoy.service.runtime.v3.Runtime",
	"envoy.service.extension.v3.ExtensionConfigDiscoveryService": "envoy.config.core.v3.TypedExtensionConfig",
}

// Stream says what a gRPC method opens: a stream of xDS, or something else.
func Stream(method string) (opened protocol.Opened, ok bool) {
	service, call, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	name, ok := services[service]
	switch {
	case !ok:
		return opened, false
	case strings.HasPrefix(call, "Delta"):
		opened.Delta = true
	case !strings.HasPrefix(call, "Stream"):
		return opened, false
	}
	if name != "" {
		opened.TypeURL = "type.googleapis.com/" + name
	}
	return opened, true
}
