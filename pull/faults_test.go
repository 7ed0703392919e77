package pull_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/google/go-cmp/cmp"
	rpcstatus "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/pull"
	"github.com/xdslint/xdslint/rules"
)

func ads() *corev3.ConfigSource {
	return &corev3.ConfigSource{ResourceApiVersion: corev3.ApiVersion_V3, ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}}
}

func byKind(r *pull.Result) map[string][]string {
	all := map[string][]string{}
	for _, set := range r.Sets {
		var names []string
		for _, one := range set.Resources {
			names = append(names, one.Name)
		}
		all[string(set.Kind)] = names
	}
	return all
}

// A broken stream is replaced by a new one: SotW sends the version that it has, Delta the version of each resource.
func TestBrokenStream(t *testing.T) {
	lost := status.Error(codes.Unavailable, "going away")
	f := &fake{t: t}
	f.sotw = func(stream int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		switch {
		case r.GetTypeUrl() == clusters && stream == 0:
			return world(t, edsCluster("a")), nil
		case stream == 0 && r.GetTypeUrl() == endpoints:
			return nil, lost
		case r.GetTypeUrl() == clusters:
			if r.GetVersionInfo() != "1" || r.GetResponseNonce() != "" {
				t.Errorf("the new stream begins with %v", r)
			}
			return nil, nil // nothing is new
		case r.GetTypeUrl() == endpoints && stream == 1:
			return world(t, &endpointv3.ClusterLoadAssignment{ClusterName: "a"}), nil
		case r.GetTypeUrl() == listeners && stream == 1:
			return world(t), nil
		}
		return nil, nil
	}
	f.delta = func(stream int, r *discoveryv3.DeltaDiscoveryRequest) (*discoveryv3.DeltaDiscoveryResponse, error) {
		switch {
		case r.GetTypeUrl() == clusters && stream == 0:
			return changes(t, edsCluster("a"), edsCluster("b")), nil
		case r.GetTypeUrl() == endpoints && stream == 0:
			return nil, lost
		case r.GetTypeUrl() == clusters:
			if diff := cmp.Diff(map[string]string{"a": "v1", "b": "v1"}, r.GetInitialResourceVersions()); diff != "" {
				t.Error(diff)
			}
			return &discoveryv3.DeltaDiscoveryResponse{RemovedResources: []string{"b"}}, nil
		case r.GetTypeUrl() == endpoints:
			return changes(t, &endpointv3.ClusterLoadAssignment{ClusterName: "a"}), nil
		case r.GetTypeUrl() == listeners:
			return changes(t), nil
		}
		return nil, nil
	}
	address := listen(t, f)
	for name, fetch := range map[string]fetch{"SotW": pull.SotW, "Delta": pull.Delta} {
		t.Run(name, func(t *testing.T) {
			f.streams = 0
			got, err := fetch(t.Context(), pull.Server{Address: address}, node("n"))
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]string{"cluster": {"a"}, "cluster_load_assignment": {"a"}, "listener": nil}
			if diff := cmp.Diff(want, byKind(got)); diff != "" {
				t.Error(diff)
			}
			if notes := got.Notes(); len(notes) > 0 {
				t.Errorf("%q", notes)
			}
		})
	}
}

// What is never received is missing for lint too: a cluster without its endpoints stays empty.
func TestMissing(t *testing.T) {
	f := &fake{t: t}
	f.sotw = func(_ int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		switch r.GetTypeUrl() {
		case clusters:
			return world(t, edsCluster("a"), edsCluster("b")), nil
		case endpoints:
			return world(t, &endpointv3.ClusterLoadAssignment{ClusterName: "a"}, &endpointv3.ClusterLoadAssignment{ClusterName: "nobody's"}), nil
		}
		return nil, nil
	}
	f.delta = func(_ int, r *discoveryv3.DeltaDiscoveryRequest) (*discoveryv3.DeltaDiscoveryResponse, error) {
		switch r.GetTypeUrl() {
		case clusters:
			return changes(t, edsCluster("a"), edsCluster("b"), edsCluster("c")), nil
		case endpoints:
			return &discoveryv3.DeltaDiscoveryResponse{RemovedResources: []string{"b"}, ResourceErrors: []*discoveryv3.ResourceError{{
				ResourceName: &discoveryv3.ResourceName{Name: "c"}, ErrorDetail: &rpcstatus.Status{Code: 7, Message: "not for you"},
			}}, Resources: changes(t, &endpointv3.ClusterLoadAssignment{ClusterName: "a"}).Resources}, nil
		}
		return changes(t), nil
	}
	for name, c := range map[string]struct {
		fetch fetch
		notes []string
		empty []string
	}{
		"SotW": {pull.SotW, []string{"the server did not answer about any listener", "not received: cluster_load_assignment b"}, []string{"b"}},
		"Delta": {pull.Delta, []string{
			"the server does not send cluster_load_assignment c: not for you", "the server reports that this does not exist: cluster_load_assignment b",
		}, []string{"b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := incomplete(t, c.fetch, f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.notes, got.Notes()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"a"}, byKind(got)["cluster_load_assignment"]); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(c.empty, withoutEndpoints(t, got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Only Delta has VHDS and LEDS: virtual hosts are requested without names, endpoints by their collection.
func TestCollections(t *testing.T) {
	table := &routev3.RouteConfiguration{Name: "r", Vhds: &routev3.Vhds{ConfigSource: ads()}}
	assignment := &endpointv3.ClusterLoadAssignment{ClusterName: "a", Endpoints: []*endpointv3.LocalityLbEndpoints{{
		LbConfig: &endpointv3.LocalityLbEndpoints_LedsClusterLocalityConfig{LedsClusterLocalityConfig: &endpointv3.LedsClusterLocalityConfig{
			LedsConfig: ads(), LedsCollectionName: "xdstp:///envoy.config.endpoint.v3.LbEndpoint/a/*",
		}},
	}}}
	f := &fake{t: t}
	f.sotw = func(_ int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		switch r.GetTypeUrl() {
		case clusters:
			return world(t, edsCluster("a")), nil
		case endpoints:
			return world(t, assignment), nil
		}
		return world(t), nil
	}
	f.delta = func(_ int, r *discoveryv3.DeltaDiscoveryRequest) (*discoveryv3.DeltaDiscoveryResponse, error) {
		switch r.GetTypeUrl() {
		case clusters:
			return changes(t, edsCluster("a")), nil
		case endpoints:
			return changes(t, assignment), nil
		case listeners:
			return changes(t, httpListener(t, "r")), nil
		case graph.TypeURL(graph.RouteConfiguration):
			return changes(t, table), nil
		case hosts:
			if len(r.GetResourceNamesSubscribe()) > 0 {
				t.Errorf("virtual hosts by name: %v", r)
			}
			return changes(t, &routev3.VirtualHost{Name: "r/web", Domains: []string{"*"}}), nil
		case graph.TypeURL(graph.LbEndpoint):
			if diff := cmp.Diff([]string{"xdstp:///envoy.config.endpoint.v3.LbEndpoint/a/*"}, r.GetResourceNamesSubscribe()); diff != "" {
				t.Error(diff)
			}
			return &discoveryv3.DeltaDiscoveryResponse{Resources: []*discoveryv3.Resource{{
				Name: "xdstp:///envoy.config.endpoint.v3.LbEndpoint/a/1", Resource: packed(t, &endpointv3.LbEndpoint{}), Ttl: durationpb.New(time.Minute),
			}}}, nil
		}
		t.Errorf("asked for %s", r.GetTypeUrl())
		return nil, nil
	}
	address := listen(t, f)
	got, err := pull.Delta(t.Context(), pull.Server{Address: address}, node("n"))
	if err != nil {
		t.Fatal(err)
	}
	if notes := got.Notes(); len(notes) > 0 {
		t.Errorf("%q", notes)
	}
	s := read(t, write(t, got))
	endpoint := s.Find(graph.LbEndpoint, graph.Anywhere, "xdstp:///envoy.config.endpoint.v3.LbEndpoint/a/1")
	if endpoint == nil || endpoint.TTL != time.Minute {
		t.Errorf("the endpoint is %v of %v", endpoint, names(s))
	}
	if s.Find(graph.VirtualHost, graph.Anywhere, "r/web") == nil {
		t.Errorf("no virtual host in %v", names(s))
	}

	got, err = pull.SotW(t.Context(), pull.Server{Address: address}, node("n"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"lb_endpoint is only available over Delta (--transport delta)"}, got.Notes()); diff != "" {
		t.Error(diff)
	}
}

// TestGarbage: whatever a server sends, what can be decoded is used, and the rest is reported.
func TestGarbage(t *testing.T) {
	unknown := &anypb.Any{TypeUrl: "type.googleapis.com/acme.Filter", Value: []byte("hunter2")}
	f := &fake{t: t, sotw: func(_ int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		switch r.GetTypeUrl() {
		case clusters:
			c := edsCluster("a")
			c.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 9999, protowire.VarintType), 1))
			c.TransportSocket = &corev3.TransportSocket{Name: "acme", ConfigType: &corev3.TransportSocket_TypedConfig{TypedConfig: unknown}}
			return world(t, c, &anypb.Any{TypeUrl: clusters, Value: []byte{0xff}}, &endpointv3.ClusterLoadAssignment{ClusterName: "a"}, unknown, &anypb.Any{},
				&clusterv3.Cluster{Name: "late", ConnectTimeout: &durationpb.Duration{Seconds: 1 << 60}}), nil
		case listeners:
			return world(t), nil
		}
		return &discoveryv3.DiscoveryResponse{TypeUrl: hosts}, nil
	}}
	got, err := incomplete(t, pull.SotW, f)
	if err != nil {
		t.Fatal(err)
	}
	files, err := got.Files()
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(got.Notes(), "\n")
	for _, want := range []string{
		`the bytes of cluster "" are not a valid envoy.config.cluster.v3.Cluster`, "among the resources of kind cluster", hosts + ", which was not requested",
		`cluster "a": the content of a acme.Filter is left out`, "not received: cluster_load_assignment a",
		`cluster "a": fields of envoy.config.cluster.v3.Cluster are left out`, `cluster "late": the content of a envoy.config.cluster.v3.Cluster is left out`,
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in\n%s", want, notes)
		}
	}
	text := string(files[pull.FileName(graph.Cluster)])
	if !strings.Contains(text, "name: a\n") || !strings.Contains(text, `"@type": type.googleapis.com/acme.Filter`) || strings.Contains(text, "hunter2") {
		t.Errorf("%v\n%s", slices.Collect(maps.Keys(files)), text)
	}
}

// Resources of other servers are not requested, but named in the notes. They may exist.
func TestElsewhere(t *testing.T) {
	c := edsCluster("a*")
	c.EdsClusterConfig.EdsConfig = &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_ApiConfigSource{ApiConfigSource: &corev3.ApiConfigSource{
		ApiType: corev3.ApiConfigSource_REST, ClusterNames: []string{"other"}, RefreshDelay: durationpb.New(time.Minute),
	}}}
	f := &fake{t: t, sotw: func(_ int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		switch r.GetTypeUrl() {
		case clusters:
			return world(t, c, edsCluster("b"), edsCluster("ab")), nil
		case endpoints:
			return world(t, &endpointv3.ClusterLoadAssignment{ClusterName: "b"}), nil
		}
		return world(t), nil
	}}
	got, err := incomplete(t, pull.SotW, f)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"not received: cluster_load_assignment ab", "not requested, served by api:other: cluster_load_assignment a*"}, got.Notes()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"ab"}, withoutEndpoints(t, got)); diff != "" {
		t.Error(diff)
	}
}

// withoutEndpoints lists the clusters without endpoints, according to lint.
func withoutEndpoints(t *testing.T, r *pull.Result) (found []string) {
	t.Helper()
	files, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	input, err := load.Texts(t.Context(), files, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Declare(input.Snapshots[0])
	for _, d := range lint.Run(t.Context(), input.Snapshots, lint.Config{Rules: rules.Builtin()}).Diagnostics {
		if d.Rule.ID() == "reference/eds-missing" && d.Severity == lint.Error {
			found = append(found, d.Resource.Name)
		}
		if d.Rule.Group == "schema" {
			t.Errorf("%s: %s", d.Rule.ID(), d.Message)
		}
	}
	return found
}
