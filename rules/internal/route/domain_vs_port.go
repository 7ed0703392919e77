package route

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "domain-vs-port",
	Severity: lint.Warning,
	Summary:  "a domain has a port, which Envoy removes from the hosts of requests",
	Links: []string{
		"ConnectionManagerUtility::maybeNormalizeHost (source/common/http/conn_manager_utility.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/faq/debugging/why_is_my_route_not_found",
		"https://github.com/envoyproxy/envoy/issues/12647",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		managers.EachLevel(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			if l.Host == nil || l.Route != nil {
				return
			}
			for i, domain := range l.Host.GetDomains() {
				name, port, ok := withPort(domain)
				if !ok {
					continue
				}
				if setting := removesPort(p, l, users, port); setting != "" {
					own := l.At.Item("domains", i)
					p.Report(own, lint.Diagnostic{
						Message: fmt.Sprintf("no request matches the domain %q: %s removes the port from its host", domain, setting),
						Notes:   []string{"Envoy removes the port before it compares the host with the domains"},
						Help:    fmt.Sprintf("write %q, if no other domain says so", name),
					})
				}
			}
		})
	}),
})

// withPort splits a domain that ends with a port. A star in place of it is the port 0.
func withPort(domain string) (name string, port uint32, ok bool) {
	name = match.WithoutPort(domain)
	if domain[len(name):] == ":*" {
		return name, 0, true
	}
	number, err := strconv.ParseUint(strings.TrimPrefix(domain[len(name):], ":"), 10, 16)
	return name, uint32(number), err == nil
}

// removesPort returns the setting by which a port is removed from all hosts that get to a virtual host, or "" if that is not certain.
func removesPort(p *lint.Pass, l *envoy.RouteLevel, users []managers.Manager, port uint32) string {
	if l.Table.GetIgnorePortInHostMatching() {
		return "ignore_port_in_host_matching"
	}
	switch {
	case l.At.Resource() != users[0].At.Resource() && p.Snapshot.Partial(): // there may be other users
	case all(users, func(m managers.Manager) bool { return m.Message.GetStripAnyHostPort() }):
		return "strip_any_host_port"
	case all(users, func(m managers.Manager) bool {
		return m.Message.GetStripMatchingHostPort() && port != 0 && portOf(m) == port
	}):
		return "strip_matching_host_port"
	}
	return ""
}

func all(users []managers.Manager, holds func(managers.Manager) bool) bool {
	return !slices.ContainsFunc(users, func(m managers.Manager) bool { return !holds(m) })
}
