package tls

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/lint"
)

// checkBundleMap checks the certificates of all trust domains in one JSON text.
func checkBundleMap(p *lint.Pass, at lint.At, spiffe *tlsv3.SPIFFECertValidatorConfig, uses []use) {
	missing(p, at, spiffe.GetTrustBundles(), "Invalid path")
	text, ok := dataOf(at, spiffe.GetTrustBundles())
	if !ok {
		return
	}
	if len(text) == 0 {
		rejectLate(p, at, uses, lint.Rejection{
			Message: "trust_bundles is empty", Help: bundleHelp, Upstream: saysEmpty(spiffe.GetTrustBundles()),
		})
		return
	}
	if says, err := bundleMap(text); err != nil {
		rejectLate(p, at, uses, lint.Rejection{
			Message: "Envoy cannot read trust_bundles: " + err.Error(), Help: bundleHelp, Upstream: says,
		})
	}
}

const bundleHelp = `write {"trust_domains": {"example.org": {"keys": [{"use": "x509-svid", "x5c": [certificates in base64]}]}}}`

// bundleMap returns why Envoy rejects a SPIFFE bundle map, and what it says (SPIFFEValidator::parseTrustBundles).
func bundleMap(text []byte) (says string, err error) {
	var whole map[string]json.RawMessage
	if !json.Valid(text) {
		return "Invalid JSON found in SPIFFE bundle", errors.New("it is not JSON")
	}
	var domains map[string]json.RawMessage
	if json.Unmarshal(text, &whole) != nil || json.Unmarshal(whole["trust_domains"], &domains) != nil || len(domains) == 0 {
		return "No trust domains found in SPIFFE bundle", errors.New("it does not have trust_domains")
	}
	for _, name := range slices.Sorted(maps.Keys(domains)) {
		if says, err := bundleOf(name, domains[name]); err != nil {
			return says, fmt.Errorf("in the trust domain %q, %w", name, err)
		}
	}
	return "", nil
}

func bundleOf(name string, text json.RawMessage) (says string, err error) {
	var domain, key map[string]json.RawMessage
	var keys []json.RawMessage
	if json.Unmarshal(text, &domain) != nil || json.Unmarshal(domain["keys"], &keys) != nil || len(keys) == 0 {
		return fmt.Sprintf("No keys found in SPIFFE bundle for domain '%s'", name), errors.New("there are no keys")
	}
	for _, text := range keys {
		key = nil
		var use string
		if json.Unmarshal(text, &key) != nil || json.Unmarshal(key["use"], &use) != nil || use != "x509-svid" {
			return fmt.Sprintf("missing or invalid 'use' field found in cert for domain '%s'", name), errors.New(`the use of a key is not "x509-svid"`)
		}
		var certificates []string
		if json.Unmarshal(key["x5c"], &certificates) != nil || len(certificates) == 0 {
			return fmt.Sprintf("missing or empty 'x5c' field found in keys for domain: '%s'", name), errors.New("a key does not have certificates in x5c")
		}
		for _, c := range certificates {
			data, err := base64.StdEncoding.DecodeString(c)
			if err != nil || len(data) == 0 {
				return fmt.Sprintf("Failed to create x509 object while loading certs in domain '%s'", name), errors.New("a certificate is not valid base64")
			}
			if err := boringssl.DER(data); err != nil {
				return fmt.Sprintf("Invalid x509 object in certs for domain '%s'", name), fmt.Errorf("a certificate cannot be read: %w", err)
			}
		}
	}
	return "", nil
}
