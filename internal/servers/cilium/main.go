// Command cilium serves Cilium's own caches with its own xDS server (pkg/envoy/xds), over SotW. An agent of Cilium has a
// stream for each type only; the server can also be asked over an aggregated one.
package main

import (
	"log"
	"log/slog"
	"net"

	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryservice "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpointservice "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	listenerservice "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	routeservice "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/cilium/cilium/pkg/envoy/xds"
	"github.com/xdslint/xdslint/internal/servers/child"
)

func main() {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	quiet, types, served := slog.New(slog.DiscardHandler), map[string]*xds.ResourceTypeConfiguration{}, target{}
	for _, url := range []string{resource.ClusterType, resource.EndpointType, resource.ListenerType, resource.RouteType} {
		cache := xds.NewCache(quiet)
		mutator := xds.NewAckingResourceMutatorWrapper(quiet, cache, metrics{})
		types[url], served[url] = &xds.ResourceTypeConfiguration{Source: cache, AckObserver: mutator}, mutator
	}
	s, server := grpc.NewServer(), xds.NewServer(quiet, types, nil, metrics{})
	discoveryservice.RegisterAggregatedDiscoveryServiceServer(s, aggregated{Server: server})
	clusterservice.RegisterClusterDiscoveryServiceServer(s, clusters{Server: server})
	endpointservice.RegisterEndpointDiscoveryServiceServer(s, endpoints{Server: server})
	listenerservice.RegisterListenerDiscoveryServiceServer(s, listeners{Server: server})
	routeservice.RegisterRouteDiscoveryServiceServer(s, routes{Server: server})
	go func() { _ = s.Serve(l) }() // until the process ends
	log.Fatal(child.Run(l, child.Fill(served)))
}

// target has the resources of each type.
type target map[string]xds.AckingResourceMutator

func (t target) Set(name string, m proto.Message) {
	url := "type.googleapis.com/" + string(m.ProtoReflect().Descriptor().FullName())
	t[url].Upsert(url, name, m, nil, nil, nil)
}

func (t target) Delete(url, name string) { t[url].Delete(url, name, nil, nil, nil) }

func (target) Publish() {}

// The streams, as in Cilium's grpc.go.
type (
	aggregated struct {
		discoveryservice.UnimplementedAggregatedDiscoveryServiceServer
		*xds.Server
	}
	clusters struct {
		clusterservice.UnimplementedClusterDiscoveryServiceServer
		*xds.Server
	}
	endpoints struct {
		endpointservice.UnimplementedEndpointDiscoveryServiceServer
		*xds.Server
	}
	listeners struct {
		listenerservice.UnimplementedListenerDiscoveryServiceServer
		*xds.Server
	}
	routes struct {
		routeservice.UnimplementedRouteDiscoveryServiceServer
		*xds.Server
	}
)

func (s aggregated) StreamAggregatedResources(st discoveryservice.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	return s.HandleRequestStream(st.Context(), st, xds.AnyTypeURL, "")
}

func (s clusters) StreamClusters(st clusterservice.ClusterDiscoveryService_StreamClustersServer) error {
	return s.HandleRequestStream(st.Context(), st, resource.ClusterType, "")
}

func (s endpoints) StreamEndpoints(st endpointservice.EndpointDiscoveryService_StreamEndpointsServer) error {
	return s.HandleRequestStream(st.Context(), st, resource.EndpointType, "")
}

func (s listeners) StreamListeners(st listenerservice.ListenerDiscoveryService_StreamListenersServer) error {
	return s.HandleRequestStream(st.Context(), st, resource.ListenerType, resource.ClusterType) // after an ACK of clusters
}

func (s routes) StreamRoutes(st routeservice.RouteDiscoveryService_StreamRoutesServer) error {
	return s.HandleRequestStream(st.Context(), st, resource.RouteType, "")
}

type metrics struct{}

func (metrics) IncreaseNACK(string)   {}
func (metrics) IncreaseACK(string)    {}
func (metrics) IncreaseCancel(string) {}
