package diff

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// Envoy's default for a route's timeout.
var defaultTimeout = durationpb.New(15_000_000_000)

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// route adds what happens to requests that match a route, by this route or by one before it. It returns the route's name.
func (s *side) route(w Where, h held, r candidate, from inherited, path string) string {
	m, name := r.message, matches(r.message.GetMatch())
	exact := h.with(withoutShare(m.GetMatch())).digest()
	w.Route = name
	w = s.free(w, &name, "action")
	w.Route = name
	if r.shadow != nil {
		s.shadowed[w] = &shadow{r.shadow.by, r.shadow.at, path, r.shadow.digest}
		m = r.shadow.by
	}
	if m == nil {
		return name
	}
	value, id := s.action(h, m)
	s.add(&fact{where: w, what: "action", value: value, exact: id, exists: true})
	s.add(&fact{where: w, what: "match", value: Set, exact: exact, part: true})
	if share := m.GetMatch().GetRuntimeFraction(); share != nil {
		s.add(&fact{
			where: w, what: "share of requests", value: fraction(share.GetDefaultValue()),
			exact: share.GetRuntimeKey() + " " + fraction(share.GetDefaultValue()),
		})
	}
	s.add(&fact{where: w, what: "", message: h.with(m), part: true, skip: fields{
		"envoy.config.route.v3.Route.name": true, "envoy.config.route.v3.Route.match": true, "envoy.config.route.v3.Route.route": true,
		"envoy.config.route.v3.Route.redirect": true, "envoy.config.route.v3.Route.direct_response": true,
		"envoy.config.route.v3.Route.typed_per_filter_config": true, "envoy.config.route.v3.Route.non_forwarding_action": true,
	}})
	s.perFilter(w, h, "", m.GetTypedPerFilterConfig())
	if m.GetRoute() != nil {
		s.forward(w, h, m.GetRoute(), from)
	}
	return name
}

// action describes what happens to a request.
func (s *side) action(h held, m *routev3.Route) (value, exact string) {
	switch a := m.GetAction().(type) {
	case *routev3.Route_Route:
		return s.target(h, a.Route)
	case *routev3.Route_Redirect:
		return redirect(a.Redirect), "redirect " + h.with(a.Redirect).digest()
	case *routev3.Route_DirectResponse:
		return fmt.Sprintf("answer %d", a.DirectResponse.GetStatus()), "answer " + h.with(a.DirectResponse).digest()
	case *routev3.Route_NonForwardingAction:
		return "no forwarding", ""
	case *routev3.Route_FilterAction:
		return "action of a filter", ""
	}
	return "no action", ""
}

func (s *side) target(h held, m *routev3.RouteAction) (value, exact string) {
	switch c := m.GetClusterSpecifier().(type) {
	case *routev3.RouteAction_Cluster:
		return s.shares([]share{{c.Cluster, 1}})
	case *routev3.RouteAction_WeightedClusters:
		var all []share
		for _, one := range c.WeightedClusters.GetClusters() {
			name := one.GetName()
			if name == "" {
				name = "cluster in header " + one.GetClusterHeader()
			}
			all = append(all, share{name, uint64(one.GetWeight().GetValue())})
		}
		return s.shares(all)
	case *routev3.RouteAction_ClusterHeader:
		return "cluster in header " + c.ClusterHeader, ""
	case *routev3.RouteAction_ClusterSpecifierPlugin:
		return "cluster of plugin " + c.ClusterSpecifierPlugin, ""
	case *routev3.RouteAction_InlineClusterSpecifierPlugin:
		return "cluster of plugin " + c.InlineClusterSpecifierPlugin.GetExtension().GetName(), h.with(c.InlineClusterSpecifierPlugin).digest()
	}
	return "nowhere", ""
}

func redirect(m *routev3.RedirectAction) string {
	scheme, host, path := "", "", ""
	switch {
	case m.GetSchemeRedirect() != "":
		scheme = m.GetSchemeRedirect() + "://"
	case m.GetHttpsRedirect():
		scheme = "https://"
	}
	if host = m.GetHostRedirect(); host == "" && scheme != "" {
		host = "…"
	}
	if m.GetPortRedirect() != 0 {
		host += fmt.Sprintf(":%d", m.GetPortRedirect())
	}
	switch {
	case m.GetPathRedirect() != "":
		path = m.GetPathRedirect()
	case m.GetPrefixRewrite() != "":
		path = m.GetPrefixRewrite() + "…"
	case m.GetRegexRewrite() != nil:
		path = "/ rewritten by a regex"
	}
	if path == "" && host == "" {
		path = "the same place"
	}
	codes := map[routev3.RedirectAction_RedirectResponseCode]int{
		routev3.RedirectAction_FOUND: 302, routev3.RedirectAction_SEE_OTHER: 303,
		routev3.RedirectAction_TEMPORARY_REDIRECT: 307, routev3.RedirectAction_PERMANENT_REDIRECT: 308,
	}
	code, ok := codes[m.GetResponseCode()]
	if !ok {
		code = 301
	}
	text := fmt.Sprintf("redirect %d to %s%s%s", code, scheme, host, path)
	if m.GetStripQuery() {
		text += " without the query"
	}
	return text
}

func (s *side) forward(w Where, h held, m *routev3.RouteAction, from inherited) {
	timeout := m.GetTimeout()
	if timeout == nil {
		timeout = defaultTimeout
	}
	value := duration(timeout)
	if timeout.AsDuration() == 0 {
		value = "none"
	}
	s.add(&fact{where: w, what: "timeout", value: value, part: true})
	retries := m.GetRetryPolicy()
	if retries == nil {
		retries = from.retries
	}
	s.retries(w, h, retries)
	mirrors := m.GetRequestMirrorPolicies()
	if len(mirrors) == 0 {
		mirrors = from.mirrors
	}
	s.mirrors(w, h, mirrors)
	for _, c := range m.GetWeightedClusters().GetClusters() {
		what := "requests to " + s.cluster(c.GetName())
		s.add(&fact{where: w, what: what, message: h.with(c), part: true, skip: fields{
			"envoy.config.route.v3.WeightedCluster.ClusterWeight.name":                    true,
			"envoy.config.route.v3.WeightedCluster.ClusterWeight.weight":                  true,
			"envoy.config.route.v3.WeightedCluster.ClusterWeight.cluster_header":          true,
			"envoy.config.route.v3.WeightedCluster.ClusterWeight.typed_per_filter_config": true,
		}})
		s.perFilter(w, h, what+": ", c.GetTypedPerFilterConfig())
	}
	if m.GetWeightedClusters() != nil {
		s.add(&fact{where: w, what: "weighted_clusters", message: h.with(m.GetWeightedClusters()), part: true, skip: fields{
			"envoy.config.route.v3.WeightedCluster.clusters": true,
			// Shares are compared; Envoy no longer reads the sum.
			"envoy.config.route.v3.WeightedCluster.total_weight": true,
		}})
	}
	s.add(&fact{where: w, what: "route", message: h.with(m), part: true, skip: fields{
		"envoy.config.route.v3.RouteAction.cluster": true, "envoy.config.route.v3.RouteAction.weighted_clusters": true,
		"envoy.config.route.v3.RouteAction.cluster_header": true, "envoy.config.route.v3.RouteAction.cluster_specifier_plugin": true,
		"envoy.config.route.v3.RouteAction.inline_cluster_specifier_plugin": true,
		"envoy.config.route.v3.RouteAction.timeout":                         true, "envoy.config.route.v3.RouteAction.retry_policy": true,
		"envoy.config.route.v3.RouteAction.request_mirror_policies": true,
	}})
}

func (s *side) retries(w Where, h held, m *routev3.RetryPolicy) {
	value := "none"
	if m != nil {
		n := uint32(1)
		if m.GetNumRetries() != nil {
			n = m.GetNumRetries().GetValue()
		}
		value = fmt.Sprintf("%d × on %s", n, orNone(m.GetRetryOn()))
		if m.GetPerTryTimeout() != nil {
			value += ", " + duration(m.GetPerTryTimeout()) + " each"
		}
	}
	s.add(&fact{where: w, what: "retries", value: value, part: true})
	if m != nil {
		s.add(&fact{where: w, what: "retry_policy", message: h.with(m), part: true, skip: fields{
			"envoy.config.route.v3.RetryPolicy.num_retries": true, "envoy.config.route.v3.RetryPolicy.retry_on": true,
			"envoy.config.route.v3.RetryPolicy.per_try_timeout": true,
		}})
	}
}

func (s *side) mirrors(w Where, h held, all []*routev3.RouteAction_RequestMirrorPolicy) {
	var values, exact []string
	for _, m := range all {
		name := m.GetCluster()
		if name == "" {
			name = "cluster in header " + m.GetClusterHeader()
		}
		part := "100 %"
		if m.GetRuntimeFraction() != nil {
			part = fraction(m.GetRuntimeFraction().GetDefaultValue())
		}
		rest := proto.CloneOf(m)
		if rest != nil {
			rest.Cluster = ""
		}
		values = append(values, part+" to "+name)
		exact = append(exact, s.cluster(name)+" "+h.with(rest).digest())
	}
	s.add(&fact{where: w, what: "mirror", value: orNone(strings.Join(values, ", ")), exact: "mirrors\n" + strings.Join(exact, "\n"), part: true})
}

func fraction(m *typev3.FractionalPercent) string {
	return percent(uint64(m.GetNumerator()), match.Denominator(m.GetDenominator()))
}
