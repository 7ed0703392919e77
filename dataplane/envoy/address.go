package envoy

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/dataplane"
)

// ParseIP is the address that a text stands for; ok is false where Envoy calls it malformed, or may do so: see MalformedIP.
func ParseIP(text string) (ip netip.Addr, ok bool) {
	text, _, _ = strings.Cut(text, "\x00") // Envoy hands it over as a C string
	ip, err := netip.ParseAddr(text)
	return ip, err == nil && (ip.Zone() == "" || numeric(ip.Zone()))
}

// MalformedIP tells of a text that Envoy takes for no IP address on any machine. Whether there is an interface named as the zone
// of a link-local address, only the machine knows; other addresses have no zones with names (getaddrinfo).
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

// HasAddressResolver tells whether the target has an address resolver of that name.
func HasAddressResolver(x *dataplane.Extensions, name string) bool {
	return slices.ContainsFunc(x.ByName(name), func(e dataplane.Extension) bool { return e.Category == "envoy.resolvers" })
}
