package http

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "upgrade-missing",
	Severity: lint.Warning,
	Summary:  "a route takes upgrade or CONNECT requests, and nothing allows them",
	Links: []string{
		"HttpConnectionManagerConfig::createUpgradeFilterChain (source/extensions/filters/network/http_connection_manager/config.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/upgrades",
		"https://github.com/envoyproxy/envoy/issues/4740",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			if l.Route.GetRoute() == nil || l.Cluster != nil {
				return
			}
			kinds, at := upgradesOf(l)
			for _, kind := range kinds {
				if mentioned(l.Route.GetRoute(), kind) || slices.ContainsFunc(users, func(m managers.Manager) bool { return allows(m, kind) }) {
					return
				}
			}
			if len(kinds) == 0 {
				return
			}
			d := lint.Diagnostic{
				Message: fmt.Sprintf("Envoy answers 403 to all %s requests of this route", kinds[0]),
				Notes:   []string{"Envoy forwards only the upgrades, and CONNECT requests, that upgrade_configs allows"},
				Help:    fmt.Sprintf("add upgrade_configs: [{upgrade_type: %s}] to the action of the route, or to the HTTP connection manager", kinds[0]),
			}
			if len(kinds) == 1 { // CONNECT can end here or at the upstream
				allowed := lint.List{lint.Fields{{Name: "upgrade_type", Value: kinds[0]}}}
				d.Fixes = lint.Insert(l.At.Field("route"), "upgrade_configs", allowed).Likely("allow the upgrade for this route")
			}
			p.Report(at, d)
		})
	}),
})

// upgradesOf returns the upgrades of which all requests of a route certainly demand one, and what says so.
func upgradesOf(l *envoy.RouteLevel) (kinds []string, at lint.At) {
	m := l.Route.GetMatch()
	if m.GetConnectMatcher() != nil {
		return []string{"CONNECT", "CONNECT-UDP"}, l.At.Field("match", "connect_matcher").Key()
	}
	for i, h := range m.GetHeaders() {
		exact := h.GetStringMatch().GetExact()
		if strings.EqualFold(h.GetName(), "upgrade") && exact != "" && !h.GetInvertMatch() {
			return []string{exact}, l.At.Field("match").Item("headers", i)
		}
	}
	return nil, at
}

// mentioned reports whether a route allows an upgrade, or forbids it by intention.
func mentioned(a *routev3.RouteAction, kind string) bool {
	return slices.ContainsFunc(a.GetUpgradeConfigs(), func(u *routev3.RouteAction_UpgradeConfig) bool { return strings.EqualFold(u.GetUpgradeType(), kind) })
}

// allows reports whether a manager allows an upgrade for all routes.
func allows(m managers.Manager, kind string) bool {
	for _, u := range m.Message.GetUpgradeConfigs() {
		if strings.EqualFold(u.GetUpgradeType(), kind) {
			return u.GetEnabled() == nil || u.GetEnabled().GetValue()
		}
	}
	return false
}
