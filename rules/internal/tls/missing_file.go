package tls

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "missing-file",
	Severity: lint.Error,
	Summary:  "a file with a certificate or a key that is not below --root, where the files of the proxy are",
	Links: []string{
		"TlsCertificateConfigImpl::TlsCertificateConfigImpl (source/common/ssl/tls_certificate_config_impl.cc)",
		"CertificateValidationContextConfigImpl::create (source/common/ssl/certificate_validation_context_config_impl.cc)",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		const invalid = "Invalid path"
		switch m := m.Interface().(type) {
		case *tlsv3.TlsCertificate:
			if len(native(usesOf(p, at.Place, "tls_certificate_sds_secret_configs"))) == 0 {
				return
			}
			missing(p, at.Field("certificate_chain"), m.GetCertificateChain(), "Failed to load incomplete certificate from")
			missing(p, at.Field("private_key"), m.GetPrivateKey(), "Failed to load incomplete private key from path")
			missing(p, at.Field("pkcs12"), m.GetPkcs12(), unreadChain)
			missing(p, at.Field("ocsp_staple"), m.GetOcspStaple(), invalid)
		case *tlsv3.CertificateValidationContext:
			if len(validationUses(p, at)) == 0 {
				return
			}
			missing(p, at.Field("trusted_ca"), m.GetTrustedCa(), invalid)
			missing(p, at.Field("crl"), m.GetCrl(), invalid)
		case *tlsv3.TlsSessionTicketKeys:
			if len(usesOf(p, at.Place, "session_ticket_keys_sds_secret_config")) == 0 {
				return
			}
			for i, key := range m.GetKeys() {
				missing(p, at.Item("keys", i), key, invalid)
			}
		}
	}, nameOf(&tlsv3.TlsCertificate{}), nameOf(&tlsv3.CertificateValidationContext{}), nameOf(&tlsv3.TlsSessionTicketKeys{})),
})

// missing reports a file that was looked for and could not be read.
func missing(p *lint.Pass, at lint.At, s *corev3.DataSource, upstream string) {
	f := at.Resource().Files[s.GetFilename()]
	if f == nil || f.Missing == "" {
		return
	}
	p.Reject(at.Field("filename"), lint.Rejection{
		Message:  fmt.Sprintf("the file %q cannot be read: %s", s.GetFilename(), f.Missing),
		Help:     "write the path that the file has where the proxy runs, or put it below the folder that --root names",
		Upstream: upstream,
	})
}
