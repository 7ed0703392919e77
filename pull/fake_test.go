package pull_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
)

var (
	clusters  = graph.TypeURL(graph.Cluster)
	listeners = graph.TypeURL(graph.Listener)
	endpoints = graph.TypeURL(graph.ClusterLoadAssignment)
	hosts     = graph.TypeURL(graph.VirtualHost)
)

// fake is a management server that checks that its client follows the protocol, and answers as a test says.
type fake struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer
	t *testing.T
	// sotw and delta answer a request that is more than an ACK, on the stream with that number, from 0. If nil: no answer. An error
	// ends the stream.
	sotw  func(stream int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error)
	delta func(stream int, r *discoveryv3.DeltaDiscoveryRequest) (*discoveryv3.DeltaDiscoveryResponse, error)

	mu      sync.Mutex
	streams int
	headers metadata.MD
}

// open records a new stream.
func (f *fake) open(s grpc.ServerStream) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.headers, _ = metadata.FromIncomingContext(s.Context())
	f.streams++
	return f.streams - 1
}

func (f *fake) StreamAggregatedResources(s discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesServer) error {
	number, sent, asked := f.open(s), map[string]*discoveryv3.DiscoveryResponse{}, map[string]string{}
	for {
		r, err := s.Recv()
		if err != nil {
			return nil
		}
		if f.sotw == nil {
			return status.Error(codes.Unimplemented, "no such service")
		}
		last := sent[r.GetTypeUrl()]
		if r.GetNode().GetId() == "" {
			f.t.Errorf("a request without a node: %v", r)
		}
		if r.GetResponseNonce() != last.GetNonce() || last != nil && r.GetVersionInfo() != last.GetVersionInfo() {
			f.t.Errorf("a request with the nonce %q and the version %q after %v", r.GetResponseNonce(), r.GetVersionInfo(), last)
		}
		names := strings.Join(r.GetResourceNames(), " ")
		if before, ok := asked[r.GetTypeUrl()]; ok && before == names {
			continue // an ACK
		}
		asked[r.GetTypeUrl()] = names
		response, err := f.sotw(number, r)
		if err != nil {
			return err
		}
		if response == nil {
			continue
		}
		response.Nonce, response.TypeUrl = fmt.Sprintf("nonce %d", len(sent)), first(response.GetTypeUrl(), r.GetTypeUrl())
		sent[response.GetTypeUrl()] = response
		if err := s.Send(response); err != nil {
			return err
		}
	}
}

func (f *fake) DeltaAggregatedResources(s discoveryv3.AggregatedDiscoveryService_DeltaAggregatedResourcesServer) error {
	number, count, open, asked := f.open(s), 0, map[string]string{}, map[string]bool{}
	for {
		r, err := s.Recv()
		if err != nil {
			return nil
		}
		url := r.GetTypeUrl()
		if nonce := r.GetResponseNonce(); nonce != "" {
			if open[nonce] != url {
				f.t.Errorf("%s: an ACK of %q, which was not sent or is ACKed already", url, nonce)
			}
			delete(open, nonce)
		}
		more := len(r.GetResourceNamesSubscribe())+len(r.GetResourceNamesUnsubscribe()) > 0
		if asked[url] && (len(r.GetInitialResourceVersions()) > 0 || !more && r.GetResponseNonce() == "") {
			f.t.Errorf("a request for nothing: %v", r)
		}
		if asked[url] && !more {
			continue
		}
		asked[url] = true
		response, err := f.delta(number, r)
		if err != nil {
			return err
		}
		if response == nil {
			continue
		}
		count++
		response.Nonce, response.TypeUrl = fmt.Sprintf("nonce %d", count), url
		open[response.GetNonce()] = url
		if err := s.Send(response); err != nil {
			return err
		}
	}
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// world is a response with messages.
func world(t *testing.T, messages ...proto.Message) *discoveryv3.DiscoveryResponse {
	r := &discoveryv3.DiscoveryResponse{VersionInfo: "1"}
	for _, m := range messages {
		r.Resources = append(r.Resources, packed(t, m))
	}
	return r
}

// changes is a Delta response with messages, under their own names.
func changes(t *testing.T, messages ...proto.Message) *discoveryv3.DeltaDiscoveryResponse {
	r := &discoveryv3.DeltaDiscoveryResponse{SystemVersionInfo: "1"}
	for _, m := range messages {
		r.Resources = append(r.Resources, &discoveryv3.Resource{Name: graph.NameOf(m.ProtoReflect()), Version: "v1", Resource: packed(t, m)})
	}
	return r
}

func packed(t *testing.T, m proto.Message) *anypb.Any {
	t.Helper()
	if a, ok := m.(*anypb.Any); ok {
		return a
	}
	a, err := anypb.New(m)
	if err != nil {
		t.Error(err)
	}
	return a
}

func edsCluster(name string) *clusterv3.Cluster {
	return &clusterv3.Cluster{
		Name: name, ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
		EdsClusterConfig: &clusterv3.Cluster_EdsClusterConfig{EdsConfig: ads()},
	}
}

// httpListener is a listener whose routes come over RDS.
func httpListener(t *testing.T, table string) *listenerv3.Listener {
	manager := packed(t, &hcmv3.HttpConnectionManager{
		StatPrefix:     "l",
		RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{RouteConfigName: table, ConfigSource: ads()}},
	})
	return &listenerv3.Listener{Name: "l", FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{
		Name: "http", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: manager},
	}}}}}
}
