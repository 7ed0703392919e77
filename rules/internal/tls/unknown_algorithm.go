package tls

import (
	"fmt"
	"slices"
	"strings"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "unknown-algorithm",
	Severity: lint.Error,
	Summary:  "a cipher suite, curve or signature algorithm that Envoy does not know",
	Links: []string{
		"ContextImpl::ContextImpl (source/common/tls/context_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/transport_sockets/tls/v3/common.proto",
	},
	Run: eachContext(func(p *lint.Pass, at lint.At, u use) {
		if u.custom() {
			return
		}
		checkAlgorithms(p, at.Field("tls_params"), u, u.common.GetTlsParams())
		if !p.Target.Before("1.40") {
			for i, c := range u.common.GetTlsCertificates() {
				checkAlgorithms(p, at.Item("tls_certificates", i).Field("tls_params"), u, c.GetTlsParams())
			}
		}
	}),
})

// checkAlgorithms checks the parameters of a context, or of one of its certificates.
func checkAlgorithms(p *lint.Pass, at lint.At, u use, params *tlsv3.TlsParameters) {
	for _, list := range []struct {
		field    string
		values   []string
		check    func(dataplane.Target, string) (string, string)
		help     string
		upstream string
	}{
		{"cipher_suites", params.GetCipherSuites(), boringssl.Cipher, cipherHelp, "Failed to initialize cipher suites"},
		{"ecdh_curves", params.GetEcdhCurves(), boringssl.Group, oneOf(boringssl.Groups(p.Target)), "Failed to initialize ECDH curves"},
		{"signature_algorithms", params.GetSignatureAlgorithms(), boringssl.Signature, oneOf(boringssl.Signatures(p.Target)), "Failed to initialize TLS signature algorithms"},
	} {
		joined := strings.Join(list.values, ":")
		if joined == "" {
			continue // the defaults
		}
		bad, why := list.check(p.Target, joined)
		if why == "" {
			continue
		}
		place := at.Field(list.field).Key()
		if i := slices.IndexFunc(list.values, func(value string) bool { return strings.Contains(value, bad) }); i >= 0 {
			place = at.Item(list.field, i)
		}
		rejectLate(p, place, []use{u}, lint.Rejection{
			Message:  fmt.Sprintf("%q %s", bad, why),
			Help:     list.help,
			Upstream: list.upstream,
		})
	}
}

// cipherHelp does not list the names, which are many.
const cipherHelp = "write OpenSSL's name of a suite before TLS 1.3, such as ECDHE-RSA-AES128-GCM-SHA256; those of TLS 1.3 cannot be chosen"

func oneOf(names []string) string { return "write one of " + strings.Join(names, ", ") }
