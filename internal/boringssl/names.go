package boringssl

import (
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane"
)

// since says in which versions of Envoy a name is known. Empty: from the first, or to the last.
type since struct{ from, until string }

func (s since) holds(t dataplane.Target) bool {
	return (s.from == "" || !t.Before(s.from)) && (s.until == "" || t.Before(s.until))
}

// groups are the curves and other groups for key exchange (kNamedGroups in ssl/ssl_key_share.cc).
var groups = map[string]since{
	"P-256": {}, "prime256v1": {}, "P-384": {}, "secp384r1": {}, "P-521": {}, "secp521r1": {}, "X25519": {}, "x25519": {}, "X25519MLKEM768": {},
	"P-224": {until: "1.38"}, "secp224r1": {until: "1.38"}, "X25519Kyber768Draft00": {until: "1.39"}, "MLKEM1024": {from: "1.38"},
}

// aliases are other names of groups.
var aliases = map[string]string{"prime256v1": "P-256", "secp384r1": "P-384", "secp521r1": "P-521", "x25519": "X25519", "secp224r1": "P-224"}

// Group returns the group that makes BoringSSL reject a list of them, and why (SSL_CTX_set1_groups_list). Why is empty if there is none.
func Group(t dataplane.Target, list string) (group, why string) {
	var seen []string
	for name := range strings.SplitSeq(list, ":") {
		s, ok := groups[name]
		if !ok || !s.holds(t) {
			return name, "is not a curve that Envoy knows"
		}
		if other := aliases[name]; other != "" {
			name = other
		}
		if slices.Contains(seen, name) && !t.Before("1.38") {
			return name, "is listed twice"
		}
		seen = append(seen, name)
	}
	return "", ""
}

// Groups returns the names of the groups that a target knows.
func Groups(t dataplane.Target) []string { return known(t, groups) }

func known(t dataplane.Target, names map[string]since) (all []string) {
	for name, s := range names {
		if s.holds(t) {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	return all
}

// signatures are the names of signature algorithms (kSignatureAlgorithmNames in ssl/ssl_privkey.cc).
var signatures = map[string]since{
	"rsa_pkcs1_md5_sha1": {}, "rsa_pkcs1_sha1": {}, "rsa_pkcs1_sha256": {}, "rsa_pkcs1_sha256_legacy": {}, "rsa_pkcs1_sha384": {},
	"rsa_pkcs1_sha512": {}, "ecdsa_sha1": {}, "ecdsa_secp256r1_sha256": {}, "ecdsa_secp384r1_sha384": {}, "ecdsa_secp521r1_sha512": {},
	"rsa_pss_rsae_sha256": {}, "rsa_pss_rsae_sha384": {}, "rsa_pss_rsae_sha512": {}, "ed25519": {},
	"mldsa44": {from: "1.39"}, "mldsa65": {from: "1.39"}, "mldsa87": {from: "1.39"},
}

// pairs are the algorithms that can also be written as a type of key and a hash (kSignatureAlgorithmsMapping).
var pairs = map[string]string{
	"RSA+SHA1": "rsa_pkcs1_sha1", "RSA+SHA256": "rsa_pkcs1_sha256", "RSA+SHA384": "rsa_pkcs1_sha384", "RSA+SHA512": "rsa_pkcs1_sha512",
	"RSA-PSS+SHA256": "rsa_pss_rsae_sha256", "RSA-PSS+SHA384": "rsa_pss_rsae_sha384", "RSA-PSS+SHA512": "rsa_pss_rsae_sha512",
	"PSS+SHA256": "rsa_pss_rsae_sha256", "PSS+SHA384": "rsa_pss_rsae_sha384", "PSS+SHA512": "rsa_pss_rsae_sha512",
	"ECDSA+SHA1": "ecdsa_sha1", "ECDSA+SHA256": "ecdsa_secp256r1_sha256", "ECDSA+SHA384": "ecdsa_secp384r1_sha384",
	"ECDSA+SHA512": "ecdsa_secp521r1_sha512",
}

// ignored is an algorithm that BoringSSL knows and takes out of a list.
const ignored = "rsa_pkcs1_md5_sha1"

// Signature returns the signature algorithm that makes BoringSSL reject a list of them, and why (SSL_CTX_set1_sigalgs_list).
func Signature(t dataplane.Target, list string) (algorithm, why string) {
	var seen []string
	for name := range strings.SplitSeq(list, ":") {
		full := name
		if other := pairs[name]; other != "" {
			full = other
		}
		s, ok := signatures[full]
		switch {
		case !ok || !s.holds(t):
			return name, "is not a signature algorithm that Envoy knows"
		case slices.Contains(seen, full):
			return name, "is listed twice"
		}
		seen = append(seen, full)
	}
	if list == ignored {
		return ignored, "is not used in TLS 1.2 and later"
	}
	return "", ""
}

// Signatures returns the names of the signature algorithms that a target knows.
func Signatures(t dataplane.Target) []string { return known(t, signatures) }
