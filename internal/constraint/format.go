package constraint

import (
	"net/mail"
	"net/netip"
	"net/url"
	"strings"

	"github.com/envoyproxy/protoc-gen-validate/validate"
)

// The patterns of well_known_regex in PGV (its module/checker.go). They are checked by hand: they are by far the most
// frequent patterns, and a regular expression takes a hundred times as long.
const (
	headerName   = "^:?[0-9a-zA-Z!#$%&'*+-.^_|~`]+$"
	headerValue  = "^[^\x00-\x08\x0A-\x1F\x7F]*$"
	headerString = "^[^\x00\x0A\x0D]*$" // for either, with strict: false
)

// header adds well_known_regex.
func (t *textRules) header(r *validate.StringRules) {
	strict := r.Strict == nil || r.GetStrict()
	switch kind := r.GetWellKnownRegex(); {
	case kind != validate.KnownRegex_HTTP_HEADER_NAME && kind != validate.KnownRegex_HTTP_HEADER_VALUE:
	case !strict:
		t.add(func(s string) bool { return strings.ContainsAny(s, "\x00\n\r") },
			"must not contain a NUL, LF or CR character", mismatch(headerString))
	case kind == validate.KnownRegex_HTTP_HEADER_NAME:
		t.add(func(s string) bool { return !isHeaderName(s) }, "must be a valid HTTP header name", mismatch(headerName))
	default:
		t.add(func(s string) bool { return !isHeaderValue(s) },
			"must be a valid HTTP header value, without control characters", mismatch(headerValue))
	}
}

func isHeaderName(s string) bool {
	s = strings.TrimPrefix(s, ":")
	for i := range len(s) {
		switch c := s[i]; {
		case isAlphanumeric(c), '+' <= c && c <= '.':
		case strings.IndexByte("!#$%&'*^_|~`", c) < 0:
			return false
		}
	}
	return s != ""
}

func isHeaderValue(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// format adds ip, hostname and the like. PGV's C++ does not support email, uri and uri_ref (it throws), so they have
// the meaning of PGV's Go code.
func (t *textRules) format(r *validate.StringRules) {
	switch {
	case r.GetIp():
		t.valid(isIP, "must be an IP address", "value must be a valid IP Address")
	case r.GetIpv4():
		t.valid(isIPv4, "must be an IPv4 address", "value must be a valid IPv4 Address")
	case r.GetIpv6():
		t.valid(isIPv6, "must be an IPv6 address", "value must be a valid IPv6 Address")
	case r.GetEmail():
		t.valid(isEmail, "must be an e-mail address", "value must be a valid email address")
	case r.GetAddress():
		t.valid(func(s string) bool { return isHostname(s) || isIP(s) },
			"must be an IP address or a host name", "value must be an ip address, or a hostname.")
	case r.GetHostname():
		t.valid(isHostname, "must be a host name", "value must be a valid hostname")
	case r.GetUri():
		t.valid(func(s string) bool { u, err := url.Parse(s); return err == nil && u.IsAbs() },
			"must be an absolute URI", "value must be a valid URI")
	case r.GetUriRef():
		t.valid(func(s string) bool { _, err := url.Parse(s); return err == nil }, "must be a URI", "value must be a valid URI")
	case r.GetUuid():
		t.valid(isUUID, "must be a UUID", "value must be a valid UUID")
	}
}

func (t *textRules) valid(valid func(string) bool, message, upstream string) {
	t.add(func(s string) bool { return !valid(s) }, message, upstream)
}

func isIP(s string) bool { return isIPv4(s) || isIPv6(s) }

func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

// isIPv6 rejects an address with a zone, as inet_pton does.
func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6() && a.Zone() == ""
}

// isHostname follows pgv::IsHostname in validate.h.
func isHostname(s string) bool {
	if len(s) > 253 {
		return false
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(s, "."), ".") {
		if part == "" || len(part) > 63 || part[0] == '-' || part[len(part)-1] == '-' {
			return false
		}
		for i := range len(part) {
			if !isAlphanumeric(part[i]) && part[i] != '-' {
				return false
			}
		}
	}
	return true
}

func isEmail(s string) bool {
	a, err := mail.ParseAddress(s)
	if err != nil || len(a.Address) > 254 {
		return false
	}
	local, host, _ := strings.Cut(a.Address, "@")
	return len(local) <= 64 && isHostname(host)
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if s[i] != '-' {
				return false
			}
		case !isAlphanumeric(s[i]) || s[i]|0x20 > 'f' && s[i] > '9':
			return false
		}
	}
	return true
}

// rawIP adds the rules for bytes that hold addresses in network byte order. PGV's C++ throws on them, so they have the
// meaning of validate.proto.
func (t *textRules) rawIP(r *validate.BytesRules) {
	switch {
	case r.GetIp():
		t.valid(func(s string) bool { return len(s) == 4 || len(s) == 16 },
			"must be an IP address of 4 or 16 bytes", "value must be a valid IP address")
	case r.GetIpv4():
		t.valid(func(s string) bool { return len(s) == 4 },
			"must be an IPv4 address of 4 bytes", "value must be a valid IPv4 address")
	case r.GetIpv6():
		t.valid(func(s string) bool { return len(s) == 16 },
			"must be an IPv6 address of 16 bytes", "value must be a valid IPv6 address")
	}
}
