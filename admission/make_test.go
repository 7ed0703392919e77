package admission_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/rules"
)

const node = "edge-1"

var ads = &corev3.ConfigSource{
	ResourceApiVersion:    corev3.ApiVersion_V3,
	ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
}

// typed lists resources by their type.
type typed map[resource.Type][]types.Resource

// snapshot of resources of any types.
func snapshot(t testing.TB, version string, resources ...types.Resource) *cachev3.Snapshot {
	t.Helper()
	all := typed{}
	for _, r := range resources {
		url := "type.googleapis.com/" + string(r.ProtoReflect().Descriptor().FullName())
		all[url] = append(all[url], r)
	}
	s, err := cachev3.NewSnapshot(version, all)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func packed(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	if err != nil {
		panic(err) // messages made here can be marshalled
	}
	return a
}

// eds is a cluster whose endpoints come over ADS.
func eds(name string) *clusterv3.Cluster {
	return &clusterv3.Cluster{
		Name: name, ConnectTimeout: durationpb.New(time.Second), ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
		EdsClusterConfig: &clusterv3.Cluster_EdsClusterConfig{EdsConfig: ads},
	}
}

// endpoints of a cluster, on a port.
func endpoints(name string, port uint32) *endpointv3.ClusterLoadAssignment {
	return &endpointv3.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{{
		LbEndpoints: []*endpointv3.LbEndpoint{{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{
			Address: address("10.0.0.1", port),
		}}}},
	}}}
}

func address(ip string, port uint32) *corev3.Address {
	return &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
		Address: ip, PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port},
	}}}
}

// refused is a cluster that Envoy rejects.
func refused(c *clusterv3.Cluster) *clusterv3.Cluster {
	c.ConnectTimeout = durationpb.New(0)
	return c
}

// renamed is a cluster whose endpoints have another name.
func renamed(c *clusterv3.Cluster, service string) *clusterv3.Cluster {
	c.EdsClusterConfig.ServiceName = service
	return c
}

// edsName is the name that Envoy requests for a cluster.
func edsName(r types.Resource) string {
	c, _ := r.(*clusterv3.Cluster)
	return cmp.Or(c.GetEdsClusterConfig().GetServiceName(), c.GetName())
}

// slow is a cluster that is changed and valid.
func slow(c *clusterv3.Cluster) *clusterv3.Cluster {
	c.ConnectTimeout = durationpb.New(9 * time.Second)
	return c
}

// table is a route configuration with a virtual host for each cluster.
func table(name string, clusters ...string) *routev3.RouteConfiguration {
	made := &routev3.RouteConfiguration{Name: name}
	for _, c := range clusters {
		made.VirtualHosts = append(made.VirtualHosts, host(c))
	}
	return made
}

func host(cluster string) *routev3.VirtualHost {
	return &routev3.VirtualHost{Name: cluster, Domains: []string{cluster + ".example.com"}, Routes: []*routev3.Route{{
		Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
		Action: &routev3.Route_Route{Route: &routev3.RouteAction{
			ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster},
		}},
	}}}
}

// listener on a port, with a route configuration over RDS.
func listener(name string, port uint32, table string) *listenerv3.Listener {
	return &listenerv3.Listener{Name: name, Address: address("0.0.0.0", port), FilterChains: []*listenerv3.FilterChain{{
		Filters: []*listenerv3.Filter{{Name: "http", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(&hcmv3.HttpConnectionManager{
			StatPrefix:     name,
			RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{RouteConfigName: table, ConfigSource: ads}},
			HttpFilters: []*hcmv3.HttpFilter{{
				Name: "router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed(&routerv3.Router{})},
			}},
		})}}},
	}}}
}

// scoped is a listener whose tables scopes choose, both over ADS.
func scoped(name, scopes string) *listenerv3.Listener {
	made := listener(name, 8080, "")
	manager := &hcmv3.HttpConnectionManager{
		StatPrefix: name,
		RouteSpecifier: &hcmv3.HttpConnectionManager_ScopedRoutes{ScopedRoutes: &hcmv3.ScopedRoutes{
			Name: scopes, RdsConfigSource: ads,
			ScopeKeyBuilder: &hcmv3.ScopedRoutes_ScopeKeyBuilder{Fragments: []*hcmv3.ScopedRoutes_ScopeKeyBuilder_FragmentBuilder{{
				Type: &hcmv3.ScopedRoutes_ScopeKeyBuilder_FragmentBuilder_HeaderValueExtractor_{
					HeaderValueExtractor: &hcmv3.ScopedRoutes_ScopeKeyBuilder_FragmentBuilder_HeaderValueExtractor{
						Name: "x-tenant", ExtractType: &hcmv3.ScopedRoutes_ScopeKeyBuilder_FragmentBuilder_HeaderValueExtractor_Index{},
					},
				},
			}}},
			ConfigSpecifier: &hcmv3.ScopedRoutes_ScopedRds{ScopedRds: &hcmv3.ScopedRds{ScopedRdsConfigSource: ads}},
		}},
		HttpFilters: []*hcmv3.HttpFilter{{
			Name: "router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed(&routerv3.Router{})},
		}},
	}
	made.FilterChains[0].Filters[0].ConfigType = &listenerv3.Filter_TypedConfig{TypedConfig: packed(manager)}
	return made
}

func scope(name, table string) *routev3.ScopedRouteConfiguration {
	return &routev3.ScopedRouteConfiguration{Name: name, RouteConfigurationName: table, Key: &routev3.ScopedRouteConfiguration_Key{
		Fragments: []*routev3.ScopedRouteConfiguration_Key_Fragment{{
			Type: &routev3.ScopedRouteConfiguration_Key_Fragment_StringKey{StringKey: name},
		}},
	}}
}

// bootstrap of Envoys that get all else over ADS.
func bootstrap(t testing.TB) *graph.Snapshot { return read(t, bootText) }

func read(t testing.TB, text string) *graph.Snapshot {
	t.Helper()
	input, err := load.Texts(context.Background(), map[string][]byte{"envoy.yaml": []byte(text)}, load.Options{})
	if err != nil || len(input.Snapshots) != 1 {
		t.Fatal(err, input)
	}
	return input.Snapshots[0]
}

const bootText = `
node: {id: edge-1, cluster: edge}
dynamic_resources:
  ads_config: {api_type: GRPC, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: control}}]}
  cds_config: {ads: {}, resource_api_version: V3}
  lds_config: {ads: {}, resource_api_version: V3}
static_resources:
  clusters:
  - name: control
    connect_timeout: 1s
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    load_assignment:
      cluster_name: control
      endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: 18000}}}}]}]
`

// trial is a gate, its cache, and its decisions.
type trial struct {
	*admission.Gate
	t         testing.TB
	cache     cachev3.SnapshotCache
	options   admission.Options
	decisions []admission.Decision
}

// try makes a gate with all rules that quarantines; change can say otherwise.
func try(t testing.TB, change func(*admission.Options)) *trial {
	t.Helper()
	made := &trial{t: t, cache: cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)}
	options := admission.Options{
		Rules: rules.Builtin(), Bootstrap: bootstrap(t), Policy: admission.Quarantine, Deadline: time.Hour,
		Report: func(d admission.Decision) { made.decisions = append(made.decisions, d) },
	}
	if change != nil {
		change(&options)
	}
	gate, err := admission.New(made.cache, options)
	if err != nil {
		t.Fatal(err)
	}
	made.Gate, made.options = gate, options
	return made
}

// set gives the gate a snapshot and returns what it decides.
func (g *trial) set(s cachev3.ResourceSnapshot) (admission.Decision, error) {
	g.t.Helper()
	before := len(g.decisions)
	err := g.SetSnapshot(context.Background(), node, s)
	if len(g.decisions) != before+1 {
		g.t.Fatalf("%d decisions (%v)", len(g.decisions)-before, err)
	}
	return g.decisions[before], err
}

// must be decided so, with these resources withheld: "cluster a is left out".
func (g *trial) must(outcome admission.Outcome, s cachev3.ResourceSnapshot, withheld ...string) admission.Decision {
	g.t.Helper()
	d, err := g.set(s)
	if blocked := outcome == admission.Blocked; d.Outcome != outcome || blocked != (err != nil) {
		g.t.Fatalf("%s, %v, want %s: new %v, withheld %v", d.Outcome, err, outcome, findings(d), d.Withheld)
	}
	var got []string
	for _, w := range d.Withheld {
		got = append(got, fmt.Sprintf("%s %s %s", w.Kind, w.Name, w.How))
	}
	if !slices.Equal(got, withheld) {
		g.t.Fatalf("withheld\n%s\nwant\n%s\nnew: %v", strings.Join(got, "\n"), strings.Join(withheld, "\n"), findings(d))
	}
	return d
}

func findings(d admission.Decision) []string {
	var all []string
	for _, f := range d.New {
		all = append(all, fmt.Sprintf("%s %s %s: %s", f.Rule.ID(), f.Resource.Kind, f.Resource.Name, f.Message))
	}
	return all
}

// good is what nodes have at first: a listener, its table, two clusters with endpoints.
func good() []types.Resource {
	return []types.Resource{
		listener("web", 8080, "public"), table("public", "shop", "cart"),
		eds("shop"), eds("cart"), endpoints("shop", 80), endpoints("cart", 80),
	}
}

// plus is good with more, or other, resources of these names.
func plus(others ...types.Resource) []types.Resource {
	all := good()
	for _, other := range others {
		same := func(r types.Resource) bool {
			return r.ProtoReflect().Type() == other.ProtoReflect().Type() && cachev3.GetResourceName(r) == cachev3.GetResourceName(other)
		}
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i] = other
		} else {
			all = append(all, other)
		}
	}
	return all
}

// minus is good without these.
func minus(urls ...string) []types.Resource {
	return without(good(), urls...)
}

// without leaves out resources, as "Cluster/shop".
func without(all []types.Resource, names ...string) []types.Resource {
	return slices.DeleteFunc(all, func(r types.Resource) bool {
		return slices.Contains(names, string(r.ProtoReflect().Descriptor().Name())+"/"+cachev3.GetResourceName(r))
	})
}

// buffered is a listener that differs, and is as good.
func buffered(l *listenerv3.Listener) *listenerv3.Listener {
	l.PerConnectionBufferLimitBytes = wrapperspb.UInt32(32768)
	return l
}

// refusedListener is a listener that Envoy rejects.
func refusedListener(l *listenerv3.Listener) *listenerv3.Listener {
	l.FilterChains[0].Filters = append(l.FilterChains[0].Filters, l.FilterChains[0].Filters[0])
	return l
}
