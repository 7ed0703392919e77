package pull_test

import (
	"context"
	"slices"
	"testing"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/pull"
	"github.com/xdslint/xdslint/rules"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type fetch func(context.Context, pull.Server, pull.Request) (*pull.Result, error)

// What is received is what is served, whatever the transport, and the files have the same content.
func TestTransports(t *testing.T) {
	c := newCertificate(t)
	served := edge(t, c)
	cp := newControlPlane(t, served, true)
	address, url := listen(t, cp.server), cp.gateway(t)
	for _, one := range []struct {
		name  string
		fetch fetch
		at    string
	}{{"SotW", pull.SotW, address}, {"Delta", pull.Delta, address}, {"REST", pull.REST, url}} {
		t.Run(one.name, func(t *testing.T) {
			got, err := one.fetch(t.Context(), pull.Server{Address: one.at}, node("edge-1"))
			if err != nil {
				t.Fatal(err)
			}
			if notes := got.Notes(); len(notes) > 0 {
				t.Errorf("%q", notes)
			}
			dir := write(t, got)
			nothingHidden(t, dir, c.hidden())
			same(t, read(t, dir), served)
		})
	}
}

// same compares a graph of files with what a control plane has: everything is equal except secrets, and there is nothing to push.
func same(t *testing.T, files *graph.Snapshot, served *cachev3.Snapshot) {
	t.Helper()
	want, err := gocp.Snapshot(served)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names(want), names(files)); diff != "" {
		t.Errorf("served (-) and pulled (+):\n%s", diff)
	}
	var changed []string
	for _, change := range graph.Diff(want, files).All {
		changed = append(changed, change.Name)
	}
	slices.Sort(changed)
	if diff := cmp.Diff([]string{"edge", "edge-client", "web/routes"}, changed); diff != "" { // these hold secrets
		t.Errorf("changed:\n%s", diff)
	}
	result := lint.Run(t.Context(), []*graph.Snapshot{files}, lint.Config{Rules: rules.Builtin()})
	for _, d := range result.Diagnostics {
		if d.Severity >= lint.Warning {
			t.Errorf("%s: %s %s", d.Rule.ID(), d.Resource.Name, d.Message)
		}
	}
}

func names(s *graph.Snapshot) []string {
	var all []string
	for _, r := range s.Resources {
		all = append(all, string(r.Kind)+" "+r.Name)
	}
	slices.Sort(all)
	return all
}

// A scope that a later answer does not have is removed, as it is in Envoy (ScopedRdsConfigSubscription), with what only it refers to.
func TestScopesGo(t *testing.T) {
	scopes, tables := graph.TypeURL(graph.ScopedRouteConfiguration), graph.TypeURL(graph.RouteConfiguration)
	scope := func(name string) *routev3.ScopedRouteConfiguration {
		return &routev3.ScopedRouteConfiguration{Name: name, RouteConfigurationName: name}
	}
	manager := packed(t, &hcmv3.HttpConnectionManager{StatPrefix: "l", RouteSpecifier: &hcmv3.HttpConnectionManager_ScopedRoutes{ScopedRoutes: &hcmv3.ScopedRoutes{
		Name: "s", RdsConfigSource: ads(), ConfigSpecifier: &hcmv3.ScopedRoutes_ScopedRds{ScopedRds: &hcmv3.ScopedRds{ScopedRdsConfigSource: ads()}},
	}}})
	listener := &listenerv3.Listener{Name: "l", FilterChains: []*listenerv3.FilterChain{{Filters: []*listenerv3.Filter{{
		Name: "http", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: manager},
	}}}}}
	f := &fake{t: t, sotw: func(stream int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		switch both := len(r.GetResourceNames()) == 2; {
		case r.GetTypeUrl() == listeners:
			return world(t, listener), nil
		case r.GetTypeUrl() == scopes && stream == 0:
			return world(t, scope("a"), scope("b")), nil
		case r.GetTypeUrl() == scopes:
			return world(t, scope("b")), nil
		case r.GetTypeUrl() == tables && both && stream == 0:
			return nil, status.Error(codes.Unavailable, "going away")
		case r.GetTypeUrl() == tables && both:
			return nil, nil
		case r.GetTypeUrl() == tables:
			return world(t, &routev3.RouteConfiguration{Name: "b"}), nil
		}
		return world(t), nil
	}}
	got, err := pull.SotW(t.Context(), pull.Server{Address: listen(t, f)}, node("n"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"cluster": nil, "listener": {"l"}, "scoped_route_configuration": {"b"}, "route_configuration": {"b"}}
	if diff := cmp.Diff(want, byKind(got)); diff != "" {
		t.Error(diff)
	}
	if notes := got.Notes(); len(notes) > 0 {
		t.Errorf("%q", notes)
	}
}
