package tls

import (
	"bytes"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "inline-secret",
	Severity: lint.Info,
	Summary:  "the text of a configuration contains a private key",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/security/secret"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, c *tlsv3.TlsCertificate) {
		if !holdsKey(c.GetPrivateKey()) || delivered(at.Resource()) {
			return
		}
		p.Report(at.Field("private_key").Key(), lint.Diagnostic{
			Message: "this file contains a private key, so anyone who can read the file has it",
			Notes:   []string{"such files are copied into repositories, backups and logs"},
			Help:    "write filename with a file that only Envoy can read, or get the certificate over SDS",
		})
	}),
})

// delivered reports whether a resource is kept as a secret: SDS delivers it, Kubernetes does, or it is not a text.
func delivered(r *graph.Resource) bool {
	return r.Text == nil || r.Kind == graph.Secret && r.Delivery != graph.FromBootstrap || r.Object != nil && r.Object.Secret()
}

// keyEnd is in the first line of every private key.
const keyEnd = "PRIVATE KEY-----"

// holdsKey reports whether a source contains a private key, and not a placeholder for one.
func holdsKey(s *corev3.DataSource) bool {
	return strings.Contains(s.GetInlineString(), keyEnd) || bytes.Contains(s.GetInlineBytes(), []byte(keyEnd))
}
