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
	Summary:  "an address of a listener has a named port, or a resolver that Envoy does not have",
	Links:    []string{"IpResolver::resolve, resolveProtoSocketAddress (source/common/network/resolver_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, l *listenerv3.Listener) {
		for _, a := range addresses(at, l) {
			s, own := a.GetSocketAddress(), a.at.Field("socket_address")
			name := s.GetResolverName()
			switch {
			case s == nil:
			case name != "" && !envoy.HasAddressResolver(p.Target.Extensions(), name):
				p.Reject(own.Field("resolver_name"), lint.Rejection{
					Message:  fmt.Sprintf("Envoy has no resolver named %q", name),
					Help:     "remove resolver_name and write the IP address",
					Upstream: "Unknown address resolver: " + name,
				})
			case ipResolver(s) && !numbered(s):
				p.Reject(own.Field("named_port"), lint.Rejection{
					Message:  "the port of a listener must be a number",
					Help:     "write the number as port_value",
					Upstream: "IP resolver can't handle port specifier type",
				})
			}
		}
	}),
})
