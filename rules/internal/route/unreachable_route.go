package route

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "unreachable-route",
	Severity: lint.Warning,
	Summary:  "an earlier route takes every request of a later one",
	Links: []string{
		"VirtualHostImpl::getRouteFromRoutes (source/common/router/config_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_routing",
		"https://github.com/envoyproxy/envoy/issues/938",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, host *routev3.VirtualHost) {
		if _, ok := tableOf(p, at); !ok || host.GetMatcher() != nil {
			return
		}
		open := func(a *anypb.Any) proto.Message {
			content, _ := envoy.Content(at, a)
			return content
		}
		var routes match.Routes
		for i, r := range host.GetRoutes() {
			if first := routes.Add(match.NewRoute(r, open)); first >= 0 {
				reportUnreachable(p, at, host, first, i)
			}
		}
	}),
})

func reportUnreachable(p *lint.Pass, at lint.At, host *routev3.VirtualHost, first, i int) {
	own, earlier := at.Item("routes", i), at.Item("routes", first)
	d := lint.Diagnostic{
		Message: fmt.Sprintf("no request reaches this route: %s takes all of its requests", calledRoute(host.GetRoutes()[first], first)),
		Notes:   []string{"Envoy takes the first route of the virtual host that matches, not the most specific one"},
		Help:    "write the more specific route first",
		Related: []lint.Related{lint.RelatedTo(earlier.Field("match"), "this route comes first")},
	}
	if proto.Equal(host.GetRoutes()[first].GetMatch(), host.GetRoutes()[i].GetMatch()) {
		d.Message = fmt.Sprintf("no request reaches this route: %s has the same match", calledRoute(host.GetRoutes()[first], first))
		d.Help = "remove one of them, or change a match"
	} else {
		d.Fixes = lint.Swap(earlier, own).Likely("exchange the two routes")
	}
	p.Report(own.Field("match"), d)
}

func calledRoute(r *routev3.Route, i int) string {
	if r.GetName() == "" {
		return fmt.Sprintf("routes[%d]", i)
	}
	return fmt.Sprintf("%q", r.GetName())
}
