package match

import (
	"strings"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Domains finds the virtual host of a route table that takes a host: by domain, and not by order (RouteMatcher::RouteMatcher and findVirtualHost in
// source/common/router/config_impl.cc). H is the caller's type for a virtual host. A table can have tens of thousands of them.
type Domains[H any] struct {
	// IgnorePort is ignore_port_in_host_matching.
	IgnorePort bool
	hosts      map[string]H
}

// Add adds a domain. If the table already has it, which Envoy rejects, Add keeps and returns the first virtual host.
func (d *Domains[H]) Add(domain string, host H) (first H, duplicate bool) {
	domain = ascii.Lower(domain)
	if first, duplicate = d.hosts[domain]; duplicate {
		return first, true
	}
	if d.hosts == nil {
		d.hosts = map[string]H{}
	}
	d.hosts[domain] = host
	return first, false
}

// Find returns the virtual host that takes a host: the one with exactly that domain, or else with the longest matching domain that begins with a star, or
// else with the longest that ends with one, or else with *.
func (d *Domains[H]) Find(host string) (H, bool) {
	if d.IgnorePort {
		host = WithoutPort(host)
	}
	host = ascii.Lower(host)
	if h, ok := d.hosts[host]; ok && !isPattern(host) {
		return h, true
	}
	return d.longest(host, host, 1)
}

// Owner returns the virtual host that takes the hosts of a domain, except for those that a narrower domain of the table takes. The domain can come from
// another table.
func (d *Domains[H]) Owner(domain string) (H, bool) {
	domain = ascii.Lower(domain)
	if h, ok := d.hosts[domain]; ok {
		return h, true
	}
	if tail, ok := strings.CutPrefix(domain, "*"); ok {
		return d.longest(tail, "", 0)
	}
	if head, ok := strings.CutSuffix(domain, "*"); ok {
		return d.longest("", head, 0)
	}
	return d.longest(domain, domain, 1)
}

// longest finds the longest pattern with the end of tail, or else the beginning of head. A star stands for at least so many characters as without says:
// *.example.com does not take .example.com.
func (d *Domains[H]) longest(tail, head string, without int) (H, bool) {
	for i := without; i < len(tail); i++ {
		if h, ok := d.hosts["*"+tail[i:]]; ok {
			return h, true
		}
	}
	for i := len(head) - without; i > 0 && head[0] != '*'; i-- {
		if h, ok := d.hosts[head[:i]+"*"]; ok {
			return h, true
		}
	}
	h, ok := d.hosts["*"]
	return h, ok
}

// Sharing calls f with the virtual hosts of another table that take a host which a virtual host of this table takes through one of the given domains.
// own reports whether a virtual host is that one. f may be called several times with the same virtual host, and in any order.
func (d *Domains[H]) Sharing(domains []string, own func(H) bool, other *Domains[H], f func(H)) {
	goes := func(domain string) bool {
		h, ok := d.Owner(domain)
		return ok && own(h)
	}
	for _, domain := range domains {
		domain = ascii.Lower(domain)
		if there, ok := other.Owner(domain); ok && goes(domain) {
			f(there)
		}
		if !isPattern(domain) {
			continue
		}
		for narrower, there := range other.hosts {
			if crosses(narrower, domain) || DomainCovers(domain, narrower) && goes(narrower) {
				f(there)
			}
		}
	}
}

// Unreachable reports whether no host, with at most one port, can match a domain: the domain has a port, and Envoy ignores the ports of hosts.
func (d *Domains[H]) Unreachable(domain string) bool {
	return d.IgnorePort && !strings.HasSuffix(domain, "*") && WithoutPort(domain) != domain
}

// DomainCovers reports whether a domain matches all hosts of another one. Both can have a star at one end.
func DomainCovers(outer, inner string) bool {
	outer, inner = ascii.Lower(outer), ascii.Lower(inner)
	tail, isSuffix := strings.CutPrefix(outer, "*")
	head, isPrefix := strings.CutSuffix(outer, "*")
	switch {
	case inner == outer || outer == "*":
		return true
	case isSuffix:
		return !isPrefixPattern(inner) && len(inner) > len(tail) && strings.HasSuffix(inner, tail)
	case isPrefix:
		return !strings.HasPrefix(inner, "*") && len(inner) > len(head) && strings.HasPrefix(inner, head)
	}
	return false
}

// isPattern reports whether a domain has a star at one end. If both ends have one, only the star at the beginning is special.
func isPattern(domain string) bool {
	return strings.HasPrefix(domain, "*") || strings.HasSuffix(domain, "*")
}

func isPrefixPattern(domain string) bool {
	return strings.HasSuffix(domain, "*") && !strings.HasPrefix(domain, "*")
}

// crosses reports whether one domain begins with a star and the other ends with one: some host matches both.
func crosses(a, b string) bool {
	if a == "*" || b == "*" {
		return false
	}
	return strings.HasPrefix(a, "*") && isPrefixPattern(b) || isPrefixPattern(a) && strings.HasPrefix(b, "*")
}

// LiteralStar reports whether a domain has a star that is not a wildcard, but a part of the host.
func LiteralStar(domain string) bool {
	if rest, ok := strings.CutPrefix(domain, "*"); ok {
		return strings.Contains(rest, "*")
	}
	return strings.Contains(strings.TrimSuffix(domain, "*"), "*")
}
