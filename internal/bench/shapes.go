// Package bench compares xdslint with Envoy itself on configurations of many sizes; `make bench` runs it.
package bench

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	tlsinspectorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
)

// Gateway is an edge proxy: one listener, a virtual host and a cluster with three endpoints for each of n services.
func Gateway(n int) *bootstrapv3.Bootstrap {
	routes := &routev3.RouteConfiguration{Name: "public"}
	b := &bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{}}
	for i := range n {
		name := fmt.Sprintf("service-%05d", i)
		b.StaticResources.Clusters = append(b.StaticResources.Clusters, cluster(name, i))
		routes.VirtualHosts = append(routes.VirtualHosts, &routev3.VirtualHost{
			Name:    name,
			Domains: []string{name + ".example.com", name + ".internal"},
			Routes:  []*routev3.Route{route("/api/v1/", name), route("/", name)},
		})
	}
	b.StaticResources.Listeners = []*listenerv3.Listener{httpListener("public", 8443, &hcmv3.HttpConnectionManager{
		StatPrefix:     "public",
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: routes},
	})}
	return b
}

// mesh is a sidecar that sees everything: a listener for each service address, HTTP and TCP in turn.
func mesh(listeners, clusters int) *bootstrapv3.Bootstrap {
	b := &bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{}}
	for i := range clusters {
		b.StaticResources.Clusters = append(b.StaticResources.Clusters, cluster(fmt.Sprintf("service-%05d", i), i))
	}
	for i := range listeners {
		name, target := fmt.Sprintf("outbound-%05d", i), fmt.Sprintf("service-%05d", i%clusters)
		if i%2 == 1 {
			b.StaticResources.Listeners = append(b.StaticResources.Listeners, tcpListener(name, i, target))
			continue
		}
		b.StaticResources.Listeners = append(b.StaticResources.Listeners, httpListener(name, i, &hcmv3.HttpConnectionManager{
			StatPrefix: name,
			RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{
				Name: name,
				VirtualHosts: []*routev3.VirtualHost{{
					Name: target, Domains: []string{"*"}, Routes: []*routev3.Route{route("/", target)},
				}},
			}},
		}))
	}
	return b
}

// manyRoutes is one virtual host with n routes. Half of them differ in their paths, and half in a header.
func manyRoutes(n int) *bootstrapv3.Bootstrap {
	host := &routev3.VirtualHost{Name: "all", Domains: []string{"*"}}
	for i := range n {
		r := route(fmt.Sprintf("/tenants/%05d/", i), "service-00000")
		if i%2 == 0 {
			r = route("/", "service-00000")
			r.Match.Headers = []*routev3.HeaderMatcher{{Name: "x-tenant", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{
				StringMatch: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: fmt.Sprintf("tenant-%05d", i)}},
			}}}
		}
		host.Routes = append(host.Routes, r)
	}
	b := Gateway(1)
	b.StaticResources.Listeners = []*listenerv3.Listener{httpListener("public", 8443, &hcmv3.HttpConnectionManager{
		StatPrefix:     "public",
		RouteSpecifier: &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &routev3.RouteConfiguration{VirtualHosts: []*routev3.VirtualHost{host}}},
	})}
	return b
}

// manyChains is one listener with a filter chain for each of n server names.
func manyChains(n int) *bootstrapv3.Bootstrap {
	b := Gateway(1)
	l := tcpListener("public", 8443, "service-00000")
	l.ListenerFilters = []*listenerv3.ListenerFilter{{
		Name: "envoy.filters.listener.tls_inspector", ConfigType: &listenerv3.ListenerFilter_TypedConfig{TypedConfig: packed(&tlsinspectorv3.TlsInspector{})},
	}}
	filters := l.FilterChains[0].Filters
	l.DefaultFilterChain, l.FilterChains = l.FilterChains[0], nil
	for i := range n {
		l.FilterChains = append(l.FilterChains, &listenerv3.FilterChain{
			FilterChainMatch: &listenerv3.FilterChainMatch{ServerNames: []string{fmt.Sprintf("tenant-%05d.example.com", i)}}, Filters: filters,
		})
	}
	b.StaticResources.Listeners = []*listenerv3.Listener{l}
	return b
}

func cluster(name string, i int) *clusterv3.Cluster {
	endpoints := &endpointv3.LocalityLbEndpoints{Locality: &corev3.Locality{Region: "eu-west-1", Zone: "eu-west-1a"}}
	for e := range 3 {
		endpoints.LbEndpoints = append(endpoints.LbEndpoints, &endpointv3.LbEndpoint{
			HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{
				Address: address(fmt.Sprintf("10.%d.%d.%d", i>>8&255, i&255, 10+e), 8080),
			}},
		})
	}
	return &clusterv3.Cluster{
		Name:                 name,
		ConnectTimeout:       durationpb.New(time.Second),
		ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC},
		LbPolicy:             clusterv3.Cluster_LEAST_REQUEST,
		CircuitBreakers: &clusterv3.CircuitBreakers{Thresholds: []*clusterv3.CircuitBreakers_Thresholds{{
			MaxConnections: wrapperspb.UInt32(4096), MaxPendingRequests: wrapperspb.UInt32(4096), MaxRequests: wrapperspb.UInt32(4096), MaxRetries: wrapperspb.UInt32(16),
		}}},
		OutlierDetection: &clusterv3.OutlierDetection{Consecutive_5Xx: wrapperspb.UInt32(5), Interval: durationpb.New(10 * time.Second), MaxEjectionPercent: wrapperspb.UInt32(50)},
		LoadAssignment:   &endpointv3.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{endpoints}},
	}
}

func route(prefix, cluster string) *routev3.Route {
	return &routev3.Route{
		Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: prefix}},
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{
			ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster},
			Timeout:          durationpb.New(15 * time.Second),
			RetryPolicy:      &routev3.RetryPolicy{RetryOn: "reset,connect-failure", NumRetries: wrapperspb.UInt32(2)},
		}},
	}
}

func httpListener(name string, i int, hcm *hcmv3.HttpConnectionManager) *listenerv3.Listener {
	hcm.HttpFilters = []*hcmv3.HttpFilter{{
		Name: "envoy.filters.http.router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed(&routerv3.Router{})},
	}}
	return listener(name, i, "envoy.filters.network.http_connection_manager", hcm)
}

func tcpListener(name string, i int, cluster string) *listenerv3.Listener {
	return listener(name, i, "envoy.filters.network.tcp_proxy", &tcpv3.TcpProxy{
		StatPrefix: name, ClusterSpecifier: &tcpv3.TcpProxy_Cluster{Cluster: cluster},
	})
}

func listener(name string, i int, filter string, config proto.Message) *listenerv3.Listener {
	return &listenerv3.Listener{
		Name:    name,
		Address: address(fmt.Sprintf("127.%d.%d.1", i>>8&255, i&255), 15001),
		FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{
			Name: filter, ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(config)},
		}}}},
	}
}

func address(ip string, port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: ip, PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
	}}}
}

func packed(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	if err != nil {
		panic(err) // messages made here can be marshalled
	}
	return a
}
