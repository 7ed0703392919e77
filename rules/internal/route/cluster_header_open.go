package route

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cluster-header-open",
	Severity: lint.Warning,
	Summary:  "a request header selects the cluster, and clients can set it",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-routeaction",
		"https://github.com/envoyproxy/envoy/issues/308",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			header := l.Route.GetRoute().GetClusterHeader()
			if header == "" || l.Cluster != nil || strings.HasPrefix(header, ":") || matchesHeader(l, header) {
				return
			}
			if i := slices.IndexFunc(users, keepsHeaders); i >= 0 && !removesHeader(l, header) {
				p.Report(l.At.Field("route", "cluster_header"), lint.Diagnostic{
					Message: fmt.Sprintf("a client selects the cluster by the header %s: any cluster of this Envoy", header),
					Notes:   []string{"Envoy reads the header as the client sent it, before the filters run"},
					Help:    fmt.Sprintf("match the allowed values of %s in the route; or set it by early_header_mutation_extensions", header),
				})
			}
		})
	}),
})

// matchesHeader reports whether the route itself restricts the values of a header.
func matchesHeader(l *envoy.RouteLevel, header string) bool {
	for _, h := range l.Route.GetMatch().GetHeaders() {
		if strings.EqualFold(h.GetName(), header) {
			return true
		}
	}
	return false
}

// removesHeader reports whether the route table removes a header from the requests of external clients.
func removesHeader(l *envoy.RouteLevel, header string) bool {
	return slices.ContainsFunc(l.Table.GetInternalOnlyHeaders(), func(name string) bool { return strings.EqualFold(name, header) })
}

// keepsHeaders reports whether it is certain that a manager selects the route, and with it the cluster, by the headers that the client sent. Envoy
// selects it before the filters run, and header_mutation does not make it select again.
func keepsHeaders(m managers.Manager) bool {
	if len(m.Message.GetEarlyHeaderMutationExtensions()) > 0 {
		return false
	}
	filters := m.Filters
	return !slices.ContainsFunc(filters, func(f envoy.HTTPFilter) bool { return !f.Passive() && f.Kind != "header_mutation" })
}
