// Package address reads IP addresses as Envoy does (Utility::parseInternetAddressNoThrow).
package address

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/lint/target"
)

// Parse is the address that a text stands for; ok is false where Envoy calls it malformed, or may do so: see Malformed.
func Parse(text string) (ip netip.Addr, ok bool) {
	text, _, _ = strings.Cut(text, "\x00") // Envoy hands it over as a C string
	ip, err := netip.ParseAddr(text)
	return ip, err == nil && (ip.Zone() == "" || numeric(ip.Zone()))
}

// Malformed tells of a text that Envoy takes for no IP address on any machine. Whether there is an interface named as the zone
// of a link-local address, only the machine knows; other addresses have no zones with names (getaddrinfo).
func Malformed(text string) bool {
	if _, ok := Parse(text); ok {
		return false
	}
	text, _, _ = strings.Cut(text, "\x00")
	ip, err := netip.ParseAddr(text)
	return err != nil || !ip.IsLinkLocalUnicast() && !ip.IsLinkLocalMulticast()
}

func numeric(zone string) bool {
	_, err := strconv.ParseUint(zone, 10, 32)
	return err == nil
}

// Help says what to write instead of a malformed address.
func Help(text string) string {
	switch {
	case text == "localhost":
		return "write 127.0.0.1, or ::1"
	case strings.HasPrefix(text, "["):
		return "leave out the brackets"
	case strings.Contains(text, "/"):
		return "write the address alone; the length of a range is its prefix_len"
	case strings.Contains(text, "%"):
		return "leave out the zone: only a link-local address has one, such as fe80::1%eth0"
	case strings.TrimSpace(text) != text:
		return "leave out the spaces"
	}
	return "write an IPv4 or IPv6 address, such as 192.0.2.1 or 2001:db8::1"
}

// HasResolver tells whether the target has an address resolver of that name.
func HasResolver(x *target.Extensions, name string) bool {
	return slices.ContainsFunc(x.ByName(name), func(e target.Extension) bool { return e.Category == "envoy.resolvers" })
}
