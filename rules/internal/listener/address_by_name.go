package listener

import (
	"fmt"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "address-by-name",
	Severity: lint.Error,
	Summary:  "an address of a listener has a named port or a resolver that Envoy does not have",
	Links:    []string{"IpResolver::resolve, resolveProtoSocketAddress (source/common/network/resolver_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		for _, a := range addresses(at, l) {
			s, own := a.GetSocketAddress(), a.at.Field("socket_address")
			name := s.GetResolverName()
			switch {
			case s == nil:
			case name != "" && !envoy.HasAddressResolver(p.Target.Extensions(), name):
				p.Refuse(own.Field("resolver_name"), fmt.Sprintf("envoy has no resolver %q", name),
					"leave out resolver_name and write the IP address", "Unknown address resolver: "+name)
			case ipResolver(s) && !numbered(s):
				p.Refuse(own.Field("named_port"), "the port of a listener is a number",
					"write port_value: with the number of the port", "IP resolver can't handle port specifier type")
			}
		}
	}),
})
