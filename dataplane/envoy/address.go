package envoy

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/dataplane"
)

// ParseIP parses an IP address as Envoy does. ok is false if Envoy rejects the text as malformed, or may reject it: see MalformedIP.
func ParseIP(text string) (ip netip.Addr, ok bool) {
	text, _, _ = strings.Cut(text, "\x00") // Envoy passes it on as a C string
	ip, err := netip.ParseAddr(text)
	return ip, err == nil && (ip.Zone() == "" || numeric(ip.Zone()))
}

// MalformedIP reports whether Envoy rejects a text as an IP address on every machine. The zone of a link-local address can be the name of
// an interface, which depends on the machine. Other addresses cannot have a named zone (getaddrinfo).
func MalformedIP(text string) bool {
	if _, ok := ParseIP(text); ok {
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

// HasAddressResolver reports whether the target has an address resolver with a name.
func HasAddressResolver(x *dataplane.Extensions, name string) bool {
	return slices.ContainsFunc(x.ByName(name), func(e dataplane.Extension) bool { return e.Category == "envoy.resolvers" })
}
