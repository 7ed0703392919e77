package listener

import (
	"fmt"
	"strings"

	genericv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/generic_proxy/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "generic-proxy-invalid",
	Severity: lint.Error,
	Summary:  "a generic proxy has a host twice or an empty one, or its last filter is not the only router",
	Links: []string{
		"RouteMatcherImpl::RouteMatcherImpl (source/extensions/filters/network/generic_proxy/route_impl.cc)",
		"Factory::filtersFactoryFromProto (source/extensions/filters/network/generic_proxy/config.cc)",
	},
	Run: read.Each(read.Of(genericHosts), read.Of(genericFilters)),
})

func genericHosts(p *lint.Pass, at lint.At, m *genericv3.RouteConfiguration) {
	first := map[string]lint.At{}
	for i, host := range m.GetVirtualHosts() {
		for j, name := range host.GetHosts() {
			own := at.Item("virtual_hosts", i).Item("hosts", j)
			if name == "" {
				p.Reject(own, lint.Rejection{
					Message:  "the host is empty",
					Help:     "write a name, or * for all",
					Upstream: "Invalid empty host name in route " + m.GetName(),
				})
				continue
			}
			before, twice := first[name]
			if !twice {
				first[name] = own
				continue
			}
			upstream := fmt.Sprintf("Only unique values for host are permitted. Duplicate entry of domain %s in route %s", name, m.GetName())
			if name == "*" {
				upstream = "Only a single wildcard domain is permitted in route " + m.GetName()
			}
			p.Reject(own, lint.Rejection{
				Message:  fmt.Sprintf("duplicate host %q", name),
				Help:     "keep it in one virtual host",
				Upstream: upstream,
				Related:  []lint.Related{lint.RelatedTo(before, "the first one")},
			})
		}
	}
	if all, ok := first["*"]; ok && m.GetRoutes() != nil {
		p.Reject(at.Field("routes").Key(), lint.Rejection{
			Message:  `the routes are for all hosts, as is the virtual host with the host "*"`,
			Help:     "move the routes into that virtual host",
			Upstream: fmt.Sprintf("'routes' cannot be specified at the same time as a catch-all ('*') virtual host in route %s", m.GetName()),
			Related:  []lint.Related{lint.RelatedTo(all, "the virtual host")},
		})
	}
}

// genericRouter is the only generic filter that ends a request.
const genericRouter protoreflect.FullName = "envoy.extensions.filters.network.generic_proxy.router.v3.Router"

func genericFilters(p *lint.Pass, at lint.At, m *genericv3.GenericProxy) {
	last := len(m.GetFilters()) - 1
	for i, f := range m.GetFilters() {
		name := decode.TypeName(f.GetTypedConfig().GetTypeUrl())
		switch {
		case name == genericRouter && i < last:
			p.Reject(at.Item("filters", i), lint.Rejection{
				Message:  fmt.Sprintf("%q is a router, but more filters come after it", f.GetName()),
				Help:     "move it to the end; a generic proxy has only one router",
				Upstream: fmt.Sprintf("Terminal filter: %s must be the last generic L7 filter", f.GetName()),
			})
			return
		case name != genericRouter && i == last && strings.HasPrefix(string(name), "envoy."):
			p.Reject(at.Item("filters", i), lint.Rejection{
				Message:  fmt.Sprintf("%q is the last filter, but it is not a router", f.GetName()),
				Help:     "end the list with envoy.filters.generic.router",
				Upstream: "A terminal L7 filter is necessary for generic proxy",
			})
		}
	}
	if last < 0 {
		p.Reject(at, lint.Rejection{
			Message:  "the generic proxy does not have a router",
			Help:     "add envoy.filters.generic.router to filters",
			Upstream: "A terminal L7 filter is necessary for generic proxy",
		})
	}
}
