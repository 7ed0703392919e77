// Package tls holds the rules about TLS: versions, ALPN, and which certificates of a peer are accepted.
package tls

import (
	"slices"
	"strings"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "tls", Summary: "TLS: versions, ALPN, and which certificates of a peer are accepted"}

// offers reports whether a context offers a protocol by ALPN. Envoy joins the values of alpn_protocols, so one can hold several.
func offers(c *tlsv3.CommonTlsContext, protocol string) bool {
	return slices.Contains(strings.Split(strings.Join(c.GetAlpnProtocols(), ","), ","), protocol)
}
