package envoy

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// absoluteURL is what http_parser_parse_url takes in its strict mode: a scheme, the user, a host name or IPv6 address,
// the port, and a path, query and fragment of printable ASCII.
var absoluteURL = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://` +
		`(?:[A-Za-z0-9_.!~*'()%;:&=+$,-]*@)?` +
		`(?:[A-Za-z0-9.-]+|\[([0-9A-Fa-f:.]+)\])` +
		`(?::([0-9]+))?` +
		`(?:[/?][!-~]*)?$`)
})

// IsURL reports whether Envoy takes a text as an absolute URL (Utility::Url::initialize in source/common/http/utility.cc).
func IsURL(text string) bool {
	found := absoluteURL().FindStringSubmatch(text)
	if found == nil {
		return strings.Contains(text, "[") && strings.Contains(text, "%") // an IPv6 zone: not modelled
	}
	if host := found[1]; host != "" {
		if _, err := netip.ParseAddr(host); err != nil {
			return false
		}
	}
	if found[2] == "" {
		return true
	}
	_, err := strconv.ParseUint(found[2], 10, 16)
	return err == nil
}
