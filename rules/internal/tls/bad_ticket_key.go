package tls

import (
	"fmt"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/lint"
)

// ticketKeySize is that of Envoy's SessionTicketKey: a name, a key for HMAC and one for AES.
const ticketKeySize = 80

var _ = Rules.Add(&lint.Rule{
	Name:     "bad-ticket-key",
	Severity: lint.Error,
	Summary:  "a session ticket key does not have 80 bytes",
	Links: []string{
		"ServerContextConfigImpl::getSessionTicketKey (source/common/tls/server_context_config_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/common.proto",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, keys *tlsv3.TlsSessionTicketKeys) {
		if len(usesOf(p, at.Place, "session_ticket_keys_sds_secret_config")) == 0 {
			return
		}
		for i, key := range keys.GetKeys() {
			data, ok := dataOf(at, key)
			if !ok || len(data) == ticketKeySize {
				continue
			}
			r := lint.Rejection{
				Message:  fmt.Sprintf("this session ticket key has %d bytes", len(data)),
				Help:     fmt.Sprintf("write %d random bytes in base64 as inline_bytes, or into a file: openssl rand %d", ticketKeySize, ticketKeySize),
				Upstream: "Incorrect TLS session ticket key length",
			}
			if len(data) == 0 {
				r.Message, r.Upstream = "this session ticket key is empty", saysEmpty(key)
			}
			p.Reject(at.Item("keys", i), r)
			return
		}
	}),
})
