package boringssl_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/boringssl"
	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestNames compares lists of names with every Envoy.
func TestNames(t *testing.T) {
	envoytest.Need(t)
	fields := []struct {
		field string
		check func(dataplane.Target, string) (string, string)
		names func(dataplane.Target) []string
		lists string
	}{
		{"cipher_suites", boringssl.Cipher, boringssl.Ciphers, `
			ALL HIGH FIPS DEFAULT DEFAULT:ALL DEFAULT:FOO kRSA kECDHE kEECDH kPSK aRSA aECDSA aPSK ECDSA ECDH ECDHE EECDH RSA PSK 3DES AES AES128 AES256
			AESGCM CHACHA20 SHA SHA1 SHA256 SSLv3 TLSv1 TLSv1.2 TLSv1.3 TLS_RSA_WITH_3DES_EDE_CBC_SHA TLS_AES_128_GCM_SHA256 ECDHE-RSA-AES256-SHA384
			ECDHE-ECDSA-AES128-SHA256 AES128-SHA256 RC4-SHA !aNULL ALL:!aNULL ALL:@STRENGTH ALL:@FAST -ALL : ALL::RSA -ALL:AES128-SHA !AES128-SHA:AES128-SHA
			ALL:-ALL ECDHE+AESGCM ECDHE+FOO AESGCM+SHA +ALL ALL:+RSA [AES] [AES [AES]:-RSA [AES]:RSA [AES128-SHA|AES256-SHA]:RSA [AES128-SHA:AES256-SHA]
			AES]:RSA [AES]]:RSA AES128-SHA,AES256-SHA AES128-SHA[AES256-SHA]`},
		{"ecdh_curves", boringssl.Group, boringssl.Groups, `
			X25519:X25519 X25519:x25519 P-256: :P-256 P-256::P-384 P-256:prime256v1 secp256r1 X448 P-224 X25519Kyber768Draft00 MLKEM1024 SecP256r1MLKEM768`},
		{"signature_algorithms", boringssl.Signature, boringssl.Signatures, `
			rsa_pkcs1_md5_sha1:ed25519 ed25519:ed25519 RSA+SHA256:rsa_pkcs1_sha256 RSA+SHA1 RSA+SHA384 RSA-PSS+SHA256 PSS+SHA512 PSS+SHA1 ECDSA+SHA1
			ECDSA+SHA512 ECDSA+sha256 RSA+MD5 RSA DSA+SHA1 ED25519 ecdsa_sha256 mldsa65 rsa_pkcs1_sha256:`},
	}
	for _, target := range dataplane.All() {
		if target.Plane != "envoy" {
			continue
		}
		v := envoytest.Version(target.Version)
		if !envoytest.Thorough() && target != dataplane.Default() {
			continue
		}
		envoytest.Need(t, v)
		for _, f := range fields {
			for _, list := range append(strings.Fields(f.lists), f.names(target)...) {
				t.Run(target.String()+"/"+f.field+"/"+list, func(t *testing.T) {
					t.Parallel()
					_, why := f.check(target, list)
					agree(t, v, why, fmt.Sprintf(`{"tls_params": {%q: [%q]}}`, f.field, list))
				})
			}
		}
	}
}

// agree fails if an Envoy accepts a common_tls_context of a cluster and this package does not, or the other way round.
func agree(t *testing.T, v envoytest.Version, why, common string) {
	t.Helper()
	const cluster = `{"static_resources": {"clusters": [{"name": "shop", "type": "STATIC", "load_assignment": {"cluster_name": "shop"},
		"transport_socket": {"name": "tls", "typed_config": {
			"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "common_tls_context": %s}}}]}}`
	verdict, err := v.ValidateText(t.Context(), fmt.Sprintf(cluster, common), ".json")
	if err != nil {
		t.Fatal(err)
	}
	if rejected := verdict.Outcome == envoytest.Reject; rejected != (why != "") {
		t.Errorf("Envoy: %s\nthis package: %q", verdict, why)
	}
}

// source is a data source with a text, in JSON.
func source(text []byte) string {
	quoted, _ := json.Marshal(map[string]any{"inline_bytes": text}) // bytes can always be written
	return string(quoted)
}
