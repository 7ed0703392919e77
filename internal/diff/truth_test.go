package diff_test

import (
	"fmt"
	"strings"
	"testing"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/diff"
	"github.com/xdslint/xdslint/internal/source"
)

// TestNothingChangesIsTrue: if "nothing changes for traffic", every request goes to the same cluster as before.
func TestNothingChangesIsTrue(t *testing.T) {
	same := 0
	property := func(t *rapid.T) {
		old := drawRoutes(t)
		now := edited(t, old)
		d := diff.Diff(snapshotOf(old), snapshotOf(now))
		if len(d.Changes) > 0 {
			return
		}
		same++
		for _, path := range []string{"/", "/a", "/A", "/a/", "/a/b", "/ab", "/b", "/c"} {
			for _, x := range []string{"", "yes"} {
				if before, after := clusterFor(old, path, x), clusterFor(now, path, x); before != after {
					t.Fatalf("%s with x=%q went to %q and goes to %q:\n%v\n%v\n%v", path, x, before, after, old, now, d)
				}
			}
		}
	}
	for range 20 {
		if rapid.Check(t, property); same > 0 {
			return
		}
	}
	t.Error("nothing was tried")
}

func drawRoutes(t *rapid.T) (all []*routev3.Route) {
	for range rapid.IntRange(1, 4).Draw(t, "routes") {
		m := &routev3.RouteMatch{}
		path := rapid.SampledFrom([]string{"/", "/a", "/A", "/a/b", "/ab", "/?q"}).Draw(t, "path")
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			m.PathSpecifier = &routev3.RouteMatch_Path{Path: path}
		case 1:
			m.PathSpecifier = &routev3.RouteMatch_PathSeparatedPrefix{PathSeparatedPrefix: "/a"}
		default:
			m.PathSpecifier = &routev3.RouteMatch_Prefix{Prefix: path}
		}
		if rapid.Bool().Draw(t, "any case") {
			m.CaseSensitive = wrapperspb.Bool(false)
		}
		if rapid.IntRange(0, 3).Draw(t, "header") == 0 {
			m.Headers = []*routev3.HeaderMatcher{{Name: "x", HeaderMatchSpecifier: &routev3.HeaderMatcher_StringMatch{
				StringMatch: &matcherv3.StringMatcher{MatchPattern: &matcherv3.StringMatcher_Exact{Exact: "yes"}},
			}}}
		}
		cluster := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "cluster")
		all = append(all, &routev3.Route{Match: m, Action: &routev3.Route_Route{Route: &routev3.RouteAction{ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: cluster}}}})
	}
	return all
}

// edited are the same routes in another order, without some, with more.
func edited(t *rapid.T, old []*routev3.Route) []*routev3.Route {
	all := rapid.Permutation(old).Draw(t, "order")
	if rapid.Bool().Draw(t, "more") {
		all = append(all, drawRoutes(t)...)
	}
	return all[rapid.IntRange(0, 1).Draw(t, "from"):]
}

func snapshotOf(routes []*routev3.Route) *graph.Snapshot {
	s := &graph.Snapshot{}
	table := &routev3.RouteConfiguration{Name: "r", VirtualHosts: []*routev3.VirtualHost{{Name: "v", Domains: []string{"*"}, Routes: routes}}}
	s.Add(&graph.Resource{Kind: graph.RouteConfiguration, Name: "r", Message: table, File: &source.File{}})
	s.Build()
	return s
}

func clusterFor(routes []*routev3.Route, path, x string) string {
	for _, r := range routes {
		m, lower := r.GetMatch(), func(s string) string { return s }
		if m.GetCaseSensitive() != nil {
			lower = strings.ToLower
		}
		fits := len(m.GetHeaders()) == 0 || x == "yes"
		switch p := m.GetPathSpecifier().(type) {
		case *routev3.RouteMatch_Path:
			fits = fits && lower(path) == lower(p.Path)
		case *routev3.RouteMatch_Prefix:
			fits = fits && strings.HasPrefix(lower(path), lower(p.Prefix))
		case *routev3.RouteMatch_PathSeparatedPrefix:
			fits = fits && (lower(path) == "/a" || strings.HasPrefix(lower(path), "/a/"))
		default:
			panic(fmt.Sprint(p))
		}
		if fits {
			return r.GetRoute().GetCluster()
		}
	}
	return ""
}
