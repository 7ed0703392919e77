package tls

import (
	"slices"
	"strings"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "bad-alpn",
	Severity: lint.Error,
	Summary:  "the name of a protocol in alpn_protocols is empty, or longer than TLS can send",
	Links: []string{
		"ContextImpl::parseAlpnProtocols (source/common/tls/context_impl.cc)",
		"ClientContextImpl::ClientContextImpl (source/common/tls/client_context_impl.cc)",
	},
	Run: eachContext(func(p *lint.Pass, at lint.At, u use) {
		protocols := u.common.GetAlpnProtocols()
		joined := strings.Join(protocols, ",") // as Envoy does
		names := strings.Split(joined, ",")
		place := func(bad func(string) bool) lint.At {
			return at.Item("alpn_protocols", max(0, slices.IndexFunc(protocols, func(value string) bool { return slices.ContainsFunc(strings.Split(value, ","), bad) })))
		}
		long, none := func(name string) bool { return len(name) > 255 }, func(name string) bool { return name == "" }
		switch {
		case joined == "":
		case len(joined) >= 65535 || slices.ContainsFunc(names, long):
			rejectLate(p, place(long), []use{u}, lint.Rejection{
				Message: "the name of a protocol is too long", Help: "write a name of at most 255 characters, such as h2", Upstream: "Invalid ALPN protocol string",
			})
		case u.server == nil && slices.ContainsFunc(names, none):
			rejectLate(p, place(none), []use{u}, lint.Rejection{
				Message: "the name of a protocol is empty, and Envoy crashes when it makes this context", Help: "remove it",
			})
		}
	}),
})
