package traffic

import (
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/rules/ascii"
)

// hosts are virtual hosts by their domains: there can be ten thousands.
type hosts struct {
	exact map[string][]*routev3.VirtualHost
	wild  []pattern
}

type pattern struct {
	domain string
	host   *routev3.VirtualHost
}

func (h *hosts) add(host *routev3.VirtualHost) {
	for _, domain := range host.GetDomains() {
		if domain = ascii.Lower(domain); isPattern(domain) {
			h.wild = append(h.wild, pattern{domain, host})
		} else {
			h.exact[domain] = append(h.exact[domain], host)
		}
	}
}

func isPattern(domain string) bool {
	return strings.HasPrefix(domain, "*") || strings.HasSuffix(domain, "*")
}

// overlapping lists the hosts that share a host name with some of the domains, in no order and perhaps more than once.
func (h *hosts) overlapping(domains []string) (all []*routev3.VirtualHost) {
	for _, domain := range domains {
		domain = ascii.Lower(domain)
		for _, p := range h.wild {
			if domainOverlaps(domain, p.domain) {
				all = append(all, p.host)
			}
		}
		if !isPattern(domain) {
			all = append(all, h.exact[domain]...)
			continue
		}
		for other, hosts := range h.exact {
			if domainOverlaps(domain, other) {
				all = append(all, hosts...)
			}
		}
	}
	return all
}

// domainsOverlap tells whether some host matches a domain of both lists, which can have a * at one end, as the names of SNI can.
func domainsOverlap(a, b []string) bool {
	for _, x := range a {
		for _, y := range b {
			if domainOverlaps(ascii.Lower(x), ascii.Lower(y)) {
				return true
			}
		}
	}
	return false
}

func domainOverlaps(x, y string) bool {
	tailX, suffixX := strings.CutPrefix(x, "*")
	tailY, suffixY := strings.CutPrefix(y, "*")
	headX, prefixX := strings.CutSuffix(x, "*")
	headY, prefixY := strings.CutSuffix(y, "*")
	switch {
	case x == "*" || y == "*" || suffixX && prefixY || prefixX && suffixY:
		return true
	case suffixX && suffixY:
		return strings.HasSuffix(tailX, tailY) || strings.HasSuffix(tailY, tailX)
	case prefixX && prefixY:
		return strings.HasPrefix(headX, headY) || strings.HasPrefix(headY, headX)
	case suffixX:
		return strings.HasSuffix(y, tailX)
	case suffixY:
		return strings.HasSuffix(x, tailY)
	case prefixX:
		return strings.HasPrefix(y, headX)
	case prefixY:
		return strings.HasPrefix(x, headY)
	}
	return x == y
}

// paths is one path, or all that begin so.
type paths struct {
	text   string
	prefix bool
}

func (p paths) overlaps(q paths) bool {
	switch {
	case p.prefix && q.prefix:
		return strings.HasPrefix(p.text, q.text) || strings.HasPrefix(q.text, p.text)
	case p.prefix:
		return strings.HasPrefix(q.text, p.text)
	case q.prefix:
		return strings.HasPrefix(p.text, q.text)
	}
	return p.text == q.text
}

// pathsOverlap tells whether some request can match both routes; what else they match by, such as headers, is not looked at.
func pathsOverlap(a, b *routev3.RouteMatch) bool {
	for _, p := range pathsOf(a) {
		for _, q := range pathsOf(b) {
			if p.overlaps(q) {
				return true
			}
		}
	}
	return false
}

func pathsOf(m *routev3.RouteMatch) []paths {
	var all []paths
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		all = []paths{{by.Prefix, true}}
	case *routev3.RouteMatch_Path:
		all = []paths{{by.Path, false}}
	case *routev3.RouteMatch_PathSeparatedPrefix:
		all = []paths{{by.PathSeparatedPrefix, false}, {by.PathSeparatedPrefix + "/", true}}
	default: // a regular expression or a template can match anything
		return []paths{{"", true}}
	}
	if sensitive := m.GetCaseSensitive(); sensitive != nil && !sensitive.GetValue() {
		// Case is then of no matter on this side; the other side decides whether it is.
		return []paths{{"", true}}
	}
	return all
}
