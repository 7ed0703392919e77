package match

import (
	"strings"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Domains tells which virtual host of a route table takes a host: by domain and not by order (RouteMatcher::RouteMatcher and findVirtualHost in
// source/common/router/config_impl.cc). H is whatever stands for a virtual host. There can be ten thousands.
type Domains[H any] struct {
	// IgnorePort is ignore_port_in_host_matching.
	IgnorePort bool
	hosts      map[string]H
}

// Add notes a domain. If the table has it already, which Envoy rejects, the first one stays and is returned.
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

// Find returns the virtual host that takes a host: the one with that domain, or with the longest domain *tail, or with the longest head*, or with *.
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

// Owner returns the virtual host that takes all hosts of a domain which no narrower domain of the table takes. The domain can be one of another table.
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

// longest looks for the longest pattern that ends or begins as texts do, without so many characters of them: *.example.com does not take .example.com.
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

// Sharing calls f with the virtual hosts of another table that take a host which here goes to one with these domains; own tells that one. A virtual host
// can come several times, and they come in no order.
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

// Unreachable reports whether no host with one port or none ends up at a domain: it has a port, and those of hosts are not looked at.
func (d *Domains[H]) Unreachable(domain string) bool {
	return d.IgnorePort && !strings.HasSuffix(domain, "*") && WithoutPort(domain) != domain
}

// DomainCovers reports whether a domain has all hosts of another one; both can have a star at one end.
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

// A star at both ends is one at the start: the other is a letter like any other.
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
