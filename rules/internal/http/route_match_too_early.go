package http

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "route-match-too-early",
	Severity: lint.Warning,
	Summary:  "a route matches metadata or a header that a filter writes only after the route has been selected",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_filters#filter-route-mutation",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/http/jwt_authn/v3/config.proto#envoy-v3-api-field-extensions-filters-http-jwt-authn-v3-jwtprovider-clear-route-cache",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevelOfKinds(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			if l.Route == nil || l.Cluster != nil {
				return
			}
			match := l.At.Field("match")
			for i, m := range l.Route.GetMatch().GetDynamicMetadata() {
				name := envoy.MetadataName{Namespace: m.GetFilter()}
				if len(m.GetPath()) > 0 {
					name.Key = m.GetPath()[0].GetKey()
				}
				if writer := lateWriter(users, writesMetadata(name)); writer != "" {
					reportTooEarly(p, match.Item("dynamic_metadata", i), writer, "no request has this metadata when its route is selected")
				}
			}
			for i, h := range l.Route.GetMatch().GetHeaders() {
				if writer := lateWriter(users, writesHeader(h.GetName())); writer != "" {
					reportTooEarly(p, match.Item("headers", i), writer, fmt.Sprintf("the route is selected by the %s that the client sent, not by its token", h.GetName()))
				}
			}
		})
	}),
})

func reportTooEarly(p *lint.Pass, at lint.At, writer, message string) {
	p.Report(at, lint.Diagnostic{
		Message: message,
		Notes:   []string{fmt.Sprintf("Envoy selects the route before the filters run; %q writes this later, and no filter makes Envoy select again", writer)},
		Help:    "if jwt_authn writes it, add clear_route_cache: true to its provider; otherwise, match what the client sends",
	})
}

// lateWriter returns the name of a filter that writes something after the route has been selected, if all managers have one, and none of their filters
// lets Envoy select again.
func lateWriter(users []managers.Manager, writes func(managers.Manager, envoy.HTTPFilter) bool) (name string) {
	for _, m := range users {
		i := slices.IndexFunc(m.Filters, func(f envoy.HTTPFilter) bool { return writes(m, f) })
		if i < 0 || slices.ContainsFunc(m.Filters, func(f envoy.HTTPFilter) bool { return !f.KeepsRoute() }) {
			return ""
		}
		name = m.Filters[i].Message.GetName()
	}
	return name
}

func writesMetadata(name envoy.MetadataName) func(managers.Manager, envoy.HTTPFilter) bool {
	return func(m managers.Manager, f envoy.HTTPFilter) bool {
		names, _ := f.WritesMetadata(m.Routes)
		return slices.ContainsFunc(names, name.Meets)
	}
}

func writesHeader(name string) func(managers.Manager, envoy.HTTPFilter) bool {
	return func(_ managers.Manager, f envoy.HTTPFilter) bool {
		return slices.Contains(f.ClaimHeaders(), strings.ToLower(name))
	}
}
