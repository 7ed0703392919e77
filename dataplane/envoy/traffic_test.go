package envoy_test

import (
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
)

// side is one snapshot: a listener, its route table, and the cluster "c".
type side struct {
	listener, sni string
	port          uint32
	domain        string
	match         *routev3.RouteMatch
	direct        uint32
}

func (s side) build() *graph.Snapshot {
	route := &routev3.Route{Match: s.match, Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: "c"}}}}
	if s.direct != 0 {
		route.Action = &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{Status: s.direct}}
	}
	table := &routev3.RouteConfiguration{Name: "routes", VirtualHosts: []*routev3.VirtualHost{{Name: "host", Domains: []string{s.domain}, Routes: []*routev3.Route{route}}}}
	manager := &hcmv3.HttpConnectionManager{RouteSpecifier: &hcmv3.HttpConnectionManager_Rds{Rds: &hcmv3.Rds{RouteConfigName: "routes"}}}
	chain := &listenerv3.FilterChain{Filters: []*listenerv3.Filter{{ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: &anypb.Any{TypeUrl: "hcm"}}}}}
	if s.sni != "" {
		chain.FilterChainMatch = &listenerv3.FilterChainMatch{ServerNames: []string{s.sni}}
	}
	l := &listenerv3.Listener{
		Name: s.listener, FilterChains: []*listenerv3.FilterChain{chain},
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: "0.0.0.0", PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: s.port},
		}}},
	}
	snapshot := &graph.Snapshot{NoBootstrap: true}
	add := func(kind graph.Kind, name string, m proto.Message, contents decode.Contents) {
		snapshot.Add(&graph.Resource{Kind: kind, Name: name, Message: m, Contents: contents, File: &source.File{}})
	}
	if s.listener != "" {
		add(graph.Listener, l.GetName(), l, decode.Contents{chain.GetFilters()[0].GetTypedConfig(): manager})
	}
	add(graph.RouteConfiguration, "routes", table, nil)
	add(graph.Cluster, "c", &clusterv3.Cluster{Name: "c"}, nil)
	snapshot.Build()
	return snapshot
}

func prefix(p string) *routev3.RouteMatch {
	return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: p}}
}

func exact(p string) *routev3.RouteMatch {
	return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Path{Path: p}}
}

func separated(p string) *routev3.RouteMatch {
	return &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: p}}
}

func TestContinues(t *testing.T) {
	cart := side{listener: "edge", port: 80, domain: "shop.example.com", match: prefix("/cart")}
	with := func(edit func(*side)) side {
		other := cart
		edit(&other)
		return other
	}
	insensitive := prefix("/CART")
	insensitive.CaseSensitive = wrapperspb.Bool(false)
	for name, test := range map[string]struct {
		other side
		want  bool
	}{
		"the same":                    {cart, true},
		"another name, same address":  {with(func(s *side) { s.listener = "other" }), true},
		"same name, another address":  {with(func(s *side) { s.port = 81 }), true},
		"another listener":            {with(func(s *side) { s.listener, s.port = "other", 81 }), false},
		"the listener is removed":     {with(func(s *side) { s.listener = "" }), false},
		"another host":                {with(func(s *side) { s.domain = "www.example.com" }), false},
		"the same host, in capitals":  {with(func(s *side) { s.domain = "Shop.Example.com" }), true},
		"all hosts":                   {with(func(s *side) { s.domain = "*" }), true},
		"all hosts of the domain":     {with(func(s *side) { s.domain = "*.example.com" }), true},
		"all hosts of another domain": {with(func(s *side) { s.domain = "*.example.org" }), false},
		"hosts with that prefix":      {with(func(s *side) { s.domain = "shop.*" }), true},
		"hosts with another prefix":   {with(func(s *side) { s.domain = "www.*" }), false},
		"all paths":                   {with(func(s *side) { s.match = prefix("/") }), true},
		"a part of the paths":         {with(func(s *side) { s.match = prefix("/cart/items") }), true},
		"one path":                    {with(func(s *side) { s.match = exact("/cart/items") }), true},
		"one other path":              {with(func(s *side) { s.match = exact("/items") }), false},
		"other paths":                 {with(func(s *side) { s.match = prefix("/items") }), false},
		"a path as a word":            {with(func(s *side) { s.match = separated("/cart") }), true},
		"another path as a word":      {with(func(s *side) { s.match = separated("/car") }), false},
		"a match that is not known":   {with(func(s *side) { s.match = nil }), true},
		"in any case":                 {with(func(s *side) { s.match = insensitive }), true},
		"a direct response":           {with(func(s *side) { s.direct = 200 }), true},
		"a direct error":              {with(func(s *side) { s.direct = 404 }), false},
		"an additional SNI":           {with(func(s *side) { s.sni = "shop.example.com" }), true},
	} {
		from, to := cart.build(), test.other.build()
		got := envoy.TrafficOf(from).Continues(use(t, from), envoy.TrafficOf(to))
		if got != test.want {
			t.Errorf("%s: continues: %t", name, got)
		}
	}
}

func TestFilterChains(t *testing.T) {
	of := func(sni string) *graph.Snapshot {
		return side{listener: "edge", port: 443, sni: sni, domain: "*", match: prefix("/")}.build()
	}
	for sni, want := range map[string]bool{"": true, "a.example.com": true, "*.example.com": true, "b.example.com": false} {
		from, to := of("a.example.com"), of(sni)
		if got := envoy.TrafficOf(from).Continues(use(t, from), envoy.TrafficOf(to)); got != want {
			t.Errorf("a.example.com, then %q: continues: %t", sni, got)
		}
	}
}

// A more specific chain takes connections away from others, even if they fail its other conditions: the default chain then gets them.
func TestDefaultChain(t *testing.T) {
	of := func(match *listenerv3.FilterChainMatch, beside ...*listenerv3.FilterChainMatch) *graph.Snapshot {
		s := side{listener: "edge", port: 443, domain: "*", match: prefix("/")}.build()
		l := s.Resources[0].Message.(*listenerv3.Listener)
		l.FilterChains[0].FilterChainMatch = match
		for _, m := range beside {
			l.FilterChains = append(l.FilterChains, &listenerv3.FilterChain{FilterChainMatch: m})
		}
		return s
	}
	asDefault := func(s *graph.Snapshot) *graph.Snapshot {
		l := s.Resources[0].Message.(*listenerv3.Listener)
		l.DefaultFilterChain, l.FilterChains = l.FilterChains[0], l.FilterChains[1:]
		return s
	}
	port := &listenerv3.FilterChainMatch{DestinationPort: wrapperspb.UInt32(443), ServerNames: []string{"a.example.com"}}
	for name, test := range map[string]struct {
		from, to *graph.Snapshot
		want     bool
	}{
		"another chain matches all":                {asDefault(of(nil, &listenerv3.FilterChainMatch{})), of(nil), false},
		"another chain matches the rest of a port": {asDefault(of(nil, &listenerv3.FilterChainMatch{}, port)), of(nil), true},
		"a narrower chain matches them":            {of(nil, port), of(port), false},
		"another application protocol": {
			of(&listenerv3.FilterChainMatch{ApplicationProtocols: []string{"h2"}}),
			of(&listenerv3.FilterChainMatch{ApplicationProtocols: []string{"http/1.1"}}), false,
		},
	} {
		if got := envoy.TrafficOf(test.from).Continues(use(t, test.from), envoy.TrafficOf(test.to)); got != test.want {
			t.Errorf("%s: continues: %t", name, got)
		}
	}
}

// Snapshots that were given without listeners are compared by their route tables.
func TestWithoutListeners(t *testing.T) {
	from := side{domain: "*", match: prefix("/cart")}.build()
	for path, want := range map[string]bool{"/": true, "/items": false} {
		to := side{domain: "*", match: prefix(path)}.build()
		if got := envoy.TrafficOf(from).Continues(use(t, from), envoy.TrafficOf(to)); got != want {
			t.Errorf("%s: continues: %t", path, got)
		}
	}
}

// use is the reference to the cluster.
func use(t *testing.T, s *graph.Snapshot) *graph.Edge {
	t.Helper()
	for _, e := range s.References() {
		if e.Kind == graph.Cluster {
			return e
		}
	}
	t.Fatal("nothing refers to the cluster")
	return nil
}
