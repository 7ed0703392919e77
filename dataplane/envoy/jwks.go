package envoy

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// InvalidJWKS returns the error that Envoy reports for a set of public keys, or "" if it accepts the set or may accept it
// (Jwks::createFromJwksCore of jwt_verify_lib). Envoy ignores invalid keys next to a valid one.
func InvalidJWKS(text string) (upstream string) {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	if !strings.HasPrefix(trimmed, "{") {
		return "Jwks is an invalid JSON"
	}
	var set map[string]any
	if json.Unmarshal([]byte(trimmed), &set) != nil {
		return "" // the reader of protobuf takes more than JSON: a comma at the end, for one
	}
	value, ok := set["keys"]
	if !ok {
		return "Jwks does not have [keys] field"
	}
	keys, ok := value.([]any)
	if !ok {
		return "[keys] in Jwks is not an array"
	}
	for _, item := range keys {
		key, ok := item.(map[string]any)
		if !ok {
			continue // skipped, not an error
		}
		wrong := invalidKey(key)
		if wrong == "" {
			return ""
		}
		if upstream == "" {
			upstream = wrong
		}
	}
	if upstream == "" {
		upstream = "Jwks doesn't have any valid public key"
	}
	return upstream
}

// keyKinds maps the types of keys to the fields that each must have and to how alg must begin.
var keyKinds = map[string]struct {
	fields []string
	alg    []string
}{
	"EC":  {[]string{"x", "y"}, []string{"ES"}},
	"RSA": {[]string{"n", "e"}, []string{"RS", "PS"}},
	"oct": {[]string{"k"}, []string{"HS"}},
	"OKP": {[]string{"crv", "x"}, []string{"EdDSA"}},
}

// invalidKey returns why Envoy does not take a key. It does not check the numbers themselves.
func invalidKey(key map[string]any) (upstream string) {
	name, ok := key["kty"].(string)
	if !ok {
		return "[kty] is missing in [keys]"
	}
	kind, ok := keyKinds[name]
	if !ok {
		return "[kty] is not supported in [keys]"
	}
	if alg, _ := key["alg"].(string); alg != "" && !hasPrefix(alg, kind.alg) {
		return "[alg] is not started with [" + strings.Join(kind.alg, "] or [") + "] for an " + name + " key"
	}
	for _, field := range kind.fields {
		value, is := key[field]
		text, ok := value.(string)
		switch {
		case !is:
			return "[" + field + "] field is missing for a " + name + " key"
		case !ok:
			return "[" + field + "] field is not string for a " + name + " key"
		case field != "crv" && notBase64(text):
			return "parse error"
		}
	}
	return ""
}

func hasPrefix(text string, prefixes []string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	return false
}

var base64Text = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]*$`) })

// notBase64 reports whether a number in base64url cannot be read. Padding and white space are left to Envoy.
func notBase64(text string) bool {
	if strings.ContainsAny(text, "= .\t\r\n") {
		return false
	}
	return !base64Text().MatchString(text) || len(text)%4 == 1
}
