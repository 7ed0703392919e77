package route

import (
	"fmt"
	"path"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "prefix-rewrite-slash",
	Severity: lint.Warning,
	Summary:  "only one of a prefix and its rewrite ends with a slash",
	Links: []string{
		"RouteEntryImplBase::currentUrlPathAfterRewriteWithMatchedPath (source/common/router/config_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#envoy-v3-api-field-config-route-v3-routeaction-prefix-rewrite",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, host *routev3.VirtualHost) {
		before := earlier{routes: host.GetRoutes()}
		for i, r := range host.GetRoutes() {
			own := at.Item("routes", i)
			for _, rewrite := range []prefixRewrite{
				{own.Field("route", "prefix_rewrite"), r.GetRoute().GetPrefixRewrite()},
				{own.Field("redirect", "prefix_rewrite"), r.GetRedirect().GetPrefixRewrite()},
			} {
				if rewrite.to == "" {
					continue
				}
				if _, ok := tableOf(p, at); ok {
					rewrite.check(p, r.GetMatch(), func(prefix string) bool { return before.take(i, prefix) })
				}
			}
		}
	}),
})

type prefixRewrite struct {
	at lint.At
	to string
}

// check reports a rewrite that doubles the slash behind the prefix, or removes it.
func (w prefixRewrite) check(p *lint.Pass, m *routev3.RouteMatch, takenBefore func(prefix string) bool) {
	prefix := m.GetPrefix() + m.GetPathSeparatedPrefix()
	if prefix == "" || strings.ContainsAny(w.to, "?#") || strings.HasSuffix(prefix, "/") == strings.HasSuffix(w.to, "/") {
		return
	}
	deeper := strings.TrimSuffix(prefix, "/") + "/"
	if takenBefore(deeper) {
		return
	}
	d := lint.Diagnostic{
		Message: fmt.Sprintf("the path %sitem becomes %s", deeper, w.to+strings.TrimPrefix(deeper+"item", prefix)),
		Notes:   []string{"Envoy puts prefix_rewrite in place of exactly the text of the prefix"},
	}
	switch {
	case !strings.HasSuffix(prefix, "/"):
		d.Help = fmt.Sprintf("match %s with this rewrite, and %s in a route of its own", deeper, prefix)
	case path.Ext(w.to) != "":
		d.Help = "to send all paths to one file, write a regex_rewrite of .*"
	default:
		d.Help = "end the rewrite with a slash"
		d.Fixes = lint.Replace(w.at, w.to+"/").Likely("end the rewrite with a slash")
	}
	p.Report(w.at, d)
}

// earlier are the routes of a virtual host.
type earlier struct {
	routes []*routev3.Route
	added  int
	index  match.Routes // of those that are added
}

// take reports whether the routes before a route take all of its requests that are below a prefix.
func (e *earlier) take(i int, prefix string) bool {
	for ; e.added < i; e.added++ {
		e.index.Add(match.NewRoute(e.routes[e.added], nil))
	}
	below, _ := proto.Clone(e.routes[i].GetMatch()).(*routev3.RouteMatch)
	below.PathSpecifier = &routev3.RouteMatch_Prefix{Prefix: prefix}
	return e.index.Add(match.NewRoute(&routev3.Route{Match: below}, nil)) >= 0 // the route itself takes no less from later ones
}
