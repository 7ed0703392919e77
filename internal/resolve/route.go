package resolve

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
)

// chooseRoute finds the route in a virtual host, or several where fractions decide (configSelector.SelectConfig, RouteAndProcess). The route then
// takes the RPC along a way; without a route, it gets a message.
func (w *walk) chooseRoute(host int, take func(way *Way, r *routev3.Route, levels []grpc.Level), none string) {
	h, at, rest := w.table.GetVirtualHosts()[host], w.at.Item("virtual_hosts", host), 1.0
	w.routes = h.GetRoutes()
	var passed []Passed
	for i, r := range h.GetRoutes() {
		share, why := w.takes(r)
		if share > 0 {
			levels := []grpc.Level{{At: at.Item("routes", i), Overrides: r.GetTypedPerFilterConfig()}, {At: at, Overrides: h.GetTypedPerFilterConfig()}}
			way := &Way{Share: rest * share, Route: routeName(r, i), Passed: slices.Clone(passed)}
			way.RetryOn = retries(r.GetRoute().GetRetryPolicy(), h.GetRetryPolicy())
			take(way, r, levels)
			rest -= rest * share
		}
		if rest == 0 {
			return
		}
		passed = append(passed, Passed{routeName(r, i), why})
	}
	w.add(&Way{Share: rest, Passed: passed}, unavailable, none)
}

func routeName(r *routev3.Route, i int) string {
	if r.GetName() == "" {
		return fmt.Sprintf("routes[%d]", i)
	}
	return r.GetName()
}

// takes returns the share of such RPCs that a route takes, and why not all.
func (w *walk) takes(r *routev3.Route) (share float64, why string) {
	if why := w.mismatch(r); why != "" {
		return 0, why
	}
	f := r.GetMatch().GetRuntimeFraction()
	if f == nil {
		return 1, ""
	}
	share = shareOf(f.GetDefaultValue())
	return share, fmt.Sprintf("it takes %.4g%% of the RPCs that it matches", 100*share)
}

// shareOf returns a percentage as a share of 1.
func shareOf(p *typev3.FractionalPercent) float64 {
	whole := 1_000_000.0
	switch p.GetDenominator() {
	case typev3.FractionalPercent_HUNDRED:
		whole = 100
	case typev3.FractionalPercent_TEN_THOUSAND:
		whole = 10_000
	}
	return min(1, float64(p.GetNumerator())/whole)
}

// add adds a way that ends here.
func (w *walk) add(way *Way, code, message string) {
	way.Code, way.Message = code, message
	w.answer.Ways = append(w.answer.Ways, way)
}

// fail adds the only way of an RPC that fails before it has a route.
func (w *walk) fail(l *lost) { w.add(&Way{Share: 1, Why: l.why}, unavailable, l.message) }

// destination is a cluster that a route names, with the share of the RPCs that it gets.
type destination struct {
	cluster string
	share   float64
	level   grpc.Level // of a member of weighted_clusters
}

func destinations(at graph.At, a *routev3.RouteAction) (all []destination) {
	if a.GetWeightedClusters() == nil {
		return []destination{{cluster: a.GetCluster(), share: 1}}
	}
	total := 0.0
	for _, member := range a.GetWeightedClusters().GetClusters() {
		total += float64(member.GetWeight().GetValue())
	}
	for i, member := range a.GetWeightedClusters().GetClusters() {
		if weight := member.GetWeight().GetValue(); weight > 0 {
			level := grpc.Level{At: at.Field("weighted_clusters").Item("clusters", i), Overrides: member.GetTypedPerFilterConfig()}
			all = append(all, destination{member.GetName(), float64(weight) / total, level})
		}
	}
	return all
}

// roots returns the clusters that the routes of the virtual host name.
func (w *walk) roots() (all []string) {
	for _, r := range w.routes {
		all = append(all, grpc.Destinations(r)...)
	}
	return all
}

// follow follows a route to its clusters. The first level is that of the route.
func (w *walk) follow(way *Way, r *routev3.Route, levels []grpc.Level) {
	a := r.GetRoute()
	if a == nil {
		w.add(way, unavailable, "matched route does not have a supported route action type")
		return
	}
	way.Deadline = w.deadline(a)
	for _, d := range destinations(levels[0].At.Field("route"), a) {
		to := *way
		to.Cluster, to.Share = d.cluster, way.Share*d.share
		if w.filter(&to, append([]grpc.Level{d.level}, levels...)) {
			w.reach(&to)
		}
	}
}

// deadline returns the longest time that an RPC may take, or "" (routesProtoToSlice, gRFC A31).
func (w *walk) deadline(a *routev3.RouteAction) string {
	limit := a.GetMaxStreamDuration()
	d := limit.GetGrpcTimeoutHeaderMax()
	if d == nil {
		d = limit.GetMaxStreamDuration()
	}
	if d == nil {
		d = w.manager.Config.GetCommonHttpProtocolOptions().GetMaxStreamDuration()
	}
	if d.AsDuration() == 0 {
		return ""
	}
	return d.AsDuration().String()
}

// retries returns the codes on which RPCs are retried (generateRetryConfig, gRFC A44).
func retries(route, host *routev3.RetryPolicy) (codes []string) {
	p := route
	if p == nil {
		p = host
	}
	for on := range strings.SplitSeq(p.GetRetryOn(), ",") {
		on = strings.ToLower(strings.TrimSpace(on))
		if slices.Contains([]string{"cancelled", "deadline-exceeded", "internal", "resource-exhausted", "unavailable"}, on) {
			codes = append(codes, strings.ToUpper(strings.ReplaceAll(on, "-", "_")))
		}
	}
	return codes
}
