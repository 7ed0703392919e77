package envoy

import (
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
)

// SecretLookup is the kind of secret that a place requires, and what Envoy says if it is missing.
type SecretLookup struct {
	What string
	Is   func(*tlsv3.Secret) bool
	Says string // the gist of Envoy's message, with %s for the name; empty: Envoy crashes
}

// SecretLookupOf returns the lookup of a place, or nil if its secrets can be of any kind.
func SecretLookupOf(at *graph.Place) *SecretLookup {
	certificate := func(s *tlsv3.Secret) bool { return s.GetTlsCertificate() != nil }
	validation := func(s *tlsv3.Secret) bool { return s.GetValidationContext() != nil }
	tickets := func(s *tlsv3.Secret) bool { return s.GetSessionTicketKeys() != nil }
	generic := func(s *tlsv3.Secret) bool { return s.GetGenericSecret() != nil }
	switch at.Path.Name() {
	case "tls_certificate_sds_secret_configs":
		return &SecretLookup{"TLS certificate", certificate, "Unknown static secret: %s"}
	case "validation_context_sds_secret_config":
		return &SecretLookup{"certificate validation context", validation, "Unknown static certificate validation context: %s"}
	case "session_ticket_keys_sds_secret_config":
		return &SecretLookup{"set of session ticket keys", tickets, "Unknown tls session ticket keys: %s"}
	case "token_secret":
		return &SecretLookup{"generic secret", generic, "invalid token secret configuration"}
	case "hmac_secret":
		return &SecretLookup{"generic secret", generic, "invalid HMAC secret configuration"}
	case "client_secret":
		return &SecretLookup{"generic secret", generic, "Invalid oauth2 client secret configuration"}
	case "secret_configs":
		return &SecretLookup{"generic secret", generic, "envoy.formatter.generic_secret: secret '%s' not found in static bootstrap resources"}
	case "encryption_parameters":
		return &SecretLookup{"generic secret", generic, "invalid encryption_parameters config"}
	case "credential":
		return &SecretLookup{"generic secret", generic, ""}
	}
	return nil
}
