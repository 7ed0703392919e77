package boringssl

import (
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/dataplane"
)

// suite is a cipher suite before TLS 1.3, with its parts: key exchange, authentication, encryption and MAC.
type suite struct {
	standard string
	parts    []string
	since
}

// suites are the cipher suites by OpenSSL's names (kCiphers in ssl/ssl_cipher.cc). The parts are the aliases that match them (kCipherAliases).
var suites = map[string]suite{
	"ECDHE-ECDSA-AES128-GCM-SHA256": {standard: "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", parts: []string{"ECDHE", "aECDSA", "AES128", "AESGCM", "TLSv1.2"}},
	"ECDHE-ECDSA-AES256-GCM-SHA384": {standard: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", parts: []string{"ECDHE", "aECDSA", "AES256", "AESGCM", "TLSv1.2"}},
	"ECDHE-RSA-AES128-GCM-SHA256":   {standard: "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", parts: []string{"ECDHE", "aRSA", "AES128", "AESGCM", "TLSv1.2"}},
	"ECDHE-RSA-AES256-GCM-SHA384":   {standard: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", parts: []string{"ECDHE", "aRSA", "AES256", "AESGCM", "TLSv1.2"}},
	"ECDHE-RSA-CHACHA20-POLY1305":   {standard: "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", parts: []string{"ECDHE", "aRSA", "CHACHA20", "TLSv1.2"}},
	"ECDHE-ECDSA-CHACHA20-POLY1305": {standard: "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", parts: []string{"ECDHE", "aECDSA", "CHACHA20", "TLSv1.2"}},
	"ECDHE-PSK-CHACHA20-POLY1305":   {standard: "TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256", parts: []string{"ECDHE", "aPSK", "CHACHA20", "TLSv1.2"}},
	"ECDHE-ECDSA-AES128-SHA":        {standard: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", parts: []string{"ECDHE", "aECDSA", "AES128", "SHA1", "TLSv1"}},
	"ECDHE-RSA-AES128-SHA":          {standard: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", parts: []string{"ECDHE", "aRSA", "AES128", "SHA1", "TLSv1"}},
	"ECDHE-PSK-AES128-CBC-SHA":      {standard: "TLS_ECDHE_PSK_WITH_AES_128_CBC_SHA", parts: []string{"ECDHE", "aPSK", "AES128", "SHA1", "TLSv1"}},
	"ECDHE-ECDSA-AES256-SHA":        {standard: "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", parts: []string{"ECDHE", "aECDSA", "AES256", "SHA1", "TLSv1"}},
	"ECDHE-RSA-AES256-SHA":          {standard: "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", parts: []string{"ECDHE", "aRSA", "AES256", "SHA1", "TLSv1"}},
	"ECDHE-PSK-AES256-CBC-SHA":      {standard: "TLS_ECDHE_PSK_WITH_AES_256_CBC_SHA", parts: []string{"ECDHE", "aPSK", "AES256", "SHA1", "TLSv1"}},
	"ECDHE-RSA-AES128-SHA256":       {standard: "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", parts: []string{"ECDHE", "aRSA", "AES128", "TLSv1.2"}},
	"ECDHE-ECDSA-AES128-SHA256":     {standard: "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", parts: []string{"ECDHE", "aECDSA", "AES128", "TLSv1.2"}, since: since{from: "1.38"}},
	"AES128-GCM-SHA256":             {standard: "TLS_RSA_WITH_AES_128_GCM_SHA256", parts: []string{"kRSA", "aRSA", "AES128", "AESGCM", "TLSv1.2"}},
	"AES256-GCM-SHA384":             {standard: "TLS_RSA_WITH_AES_256_GCM_SHA384", parts: []string{"kRSA", "aRSA", "AES256", "AESGCM", "TLSv1.2"}},
	"AES128-SHA":                    {standard: "TLS_RSA_WITH_AES_128_CBC_SHA", parts: []string{"kRSA", "aRSA", "AES128", "SHA1", "TLSv1"}},
	"AES256-SHA":                    {standard: "TLS_RSA_WITH_AES_256_CBC_SHA", parts: []string{"kRSA", "aRSA", "AES256", "SHA1", "TLSv1"}},
	"PSK-AES128-CBC-SHA":            {standard: "TLS_PSK_WITH_AES_128_CBC_SHA", parts: []string{"kPSK", "aPSK", "AES128", "SHA1", "TLSv1"}},
	"PSK-AES256-CBC-SHA":            {standard: "TLS_PSK_WITH_AES_256_CBC_SHA", parts: []string{"kPSK", "aPSK", "AES256", "SHA1", "TLSv1"}},
	"DES-CBC3-SHA":                  {standard: "TLS_RSA_WITH_3DES_EDE_CBC_SHA", parts: []string{"kRSA", "aRSA", "3DES", "SHA1", "TLSv1"}},
}

// words are the aliases: each is for the suites that have all of its parts. An alias without parts is for every suite.
var words = map[string][]string{
	"ALL": nil, "HIGH": nil, "FIPS": nil,
	"kRSA": {"kRSA"}, "kECDHE": {"ECDHE"}, "kEECDH": {"ECDHE"}, "ECDH": {"ECDHE"}, "ECDHE": {"ECDHE"}, "EECDH": {"ECDHE"}, "kPSK": {"kPSK"},
	"aRSA": {"aRSA"}, "aECDSA": {"aECDSA"}, "ECDSA": {"aECDSA"}, "aPSK": {"aPSK"}, "RSA": {"kRSA", "aRSA"}, "PSK": {"kPSK", "aPSK"},
	"3DES": {"3DES"}, "AES": {"AES"}, "AES128": {"AES128"}, "AES256": {"AES256"}, "AESGCM": {"AESGCM"}, "CHACHA20": {"CHACHA20"},
	"SHA1": {"SHA1"}, "SHA": {"SHA1"}, "SSLv3": {"TLSv1"}, "TLSv1": {"TLSv1"}, "TLSv1.2": {"TLSv1.2"},
}

// has reports whether a suite has a part.
func (s suite) has(part string) bool {
	return slices.Contains(s.parts, part) || part == "AES" && (s.has("AES128") || s.has("AES256"))
}

// Cipher returns what makes BoringSSL reject a list of cipher suites, and why (ssl_create_cipher_list in ssl/ssl_cipher.cc, with strict).
func Cipher(t dataplane.Target, list string) (cipher, why string) {
	r := cipherRules{target: t, active: map[string]bool{}, killed: map[string]bool{}}
	if rest, ok := strings.CutPrefix(list, "DEFAULT"); ok {
		list = "ALL:" + rest
	}
	if cipher, why = r.read(list); why == "" && len(r.active) == 0 {
		return list, "leaves no cipher suite"
	}
	return cipher, why
}

// cipherRules reads a list of rules for cipher suites.
type cipherRules struct {
	target         dataplane.Target
	active, killed map[string]bool
}

func (r *cipherRules) read(list string) (cipher, why string) {
	inGroup, grouped := false, false
	for list != "" {
		operator := byte(0)
		switch c := list[0]; {
		case c == ':' && !inGroup, c == '|' && inGroup:
			list = list[1:]
			continue
		case c == '[' && !inGroup, c == ']' && inGroup:
			inGroup, grouped, list = !inGroup, true, list[1:]
			continue
		case strings.IndexByte("-+!@", c) < 0:
		case grouped:
			return list, "is an operator, which a list with groups cannot have"
		default:
			operator, list = c, list[1:]
		}
		word := list
		if end := strings.IndexFunc(list, outsideName); end >= 0 {
			word = list[:end]
		}
		if word == "" {
			return list, "is not the name of a cipher suite"
		}
		if cipher, why = r.apply(operator, word); why != "" {
			return cipher, why
		}
		list = list[len(word):]
	}
	if inGroup {
		return "[", "begins a group without an end"
	}
	return "", ""
}

// outsideName reports whether a character does not belong to a name, or to several joined by +.
func outsideName(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("-._+", c)
}

// apply applies one rule: a name of a suite, or aliases joined by +.
func (r *cipherRules) apply(operator byte, word string) (cipher, why string) {
	if operator == '@' {
		if word != "STRENGTH" {
			return word, "is not a command"
		}
		return "", ""
	}
	matched, unknown := r.match(word)
	if unknown != "" {
		return unknown, "is not a cipher suite that Envoy knows"
	}
	for _, name := range matched {
		switch {
		case operator == 0 && !r.killed[name]:
			r.active[name] = true
		case operator == '-', operator == '!':
			delete(r.active, name)
			r.killed[name] = r.killed[name] || operator == '!'
		}
	}
	return "", ""
}

// match returns the suites that a rule selects, or the word in it that is not known.
func (r *cipherRules) match(word string) (matched []string, unknown string) {
	for name, s := range suites {
		if (word == name || word == s.standard) && s.holds(r.target) {
			return []string{name}, ""
		}
	}
	matched = slices.Collect(maps.Keys(suites))
	for alias := range strings.SplitSeq(word, "+") {
		parts, ok := words[alias]
		if !ok {
			return nil, alias
		}
		matched = slices.DeleteFunc(matched, func(name string) bool {
			return slices.ContainsFunc(parts, func(part string) bool { return !suites[name].has(part) })
		})
	}
	return matched, ""
}

// Ciphers returns the names of the cipher suites that a target knows.
func Ciphers(t dataplane.Target) []string {
	names := map[string]since{}
	for name, s := range suites {
		names[name] = s.since
	}
	return known(t, names)
}
