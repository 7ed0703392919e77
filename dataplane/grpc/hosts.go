package grpc

import (
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
)

// domainKind is a kind of domains. The better ones come last (matchTypeForDomain).
type domainKind int

const (
	invalid domainKind = iota
	universal
	prefix
	suffix
	exact
)

// FitsDomain reports whether a domain fits an authority. Both are compared as they are written: a port is a part of them.
func FitsDomain(domain, authority string) bool {
	_, ok := fits(domain, authority)
	return ok
}

func fits(domain, authority string) (domainKind, bool) {
	switch {
	case domain == "":
		return invalid, false
	case domain == "*":
		return universal, true
	case strings.HasPrefix(domain, "*"):
		return suffix, strings.HasSuffix(authority, domain[1:])
	case strings.HasSuffix(domain, "*"):
		return prefix, strings.HasPrefix(authority, domain[:len(domain)-1])
	case strings.Contains(domain, "*"):
		return invalid, false
	}
	return exact, domain == authority
}

// Hosts are the virtual hosts of a route configuration.
type Hosts struct {
	exact map[string]int // by domain
	wild  []hostDomain

	// Invalid is the index of the first virtual host with a domain that is not valid, which hides all of them; -1: there is none.
	Invalid int
	Domain  string // that is not valid
}

type hostDomain struct {
	domain string
	host   int
}

// HostsOf reads the domains of a route configuration.
func HostsOf(t *routev3.RouteConfiguration) *Hosts {
	h := &Hosts{exact: map[string]int{}, Invalid: -1}
	for i, host := range t.GetVirtualHosts() {
		for _, domain := range host.GetDomains() {
			switch kind, _ := fits(domain, ""); kind {
			case invalid:
				if h.Invalid < 0 {
					h.Invalid, h.Domain = i, domain
				}
			case exact:
				if _, taken := h.exact[domain]; !taken {
					h.exact[domain] = i
				}
			default:
				h.wild = append(h.wild, hostDomain{domain, i})
			}
		}
	}
	return h
}

// Of returns the index of the virtual host for an authority, or -1 (FindBestMatchingVirtualHost).
func (h *Hosts) Of(authority string) int {
	if h.Invalid >= 0 {
		return -1
	}
	if i, ok := h.exact[authority]; ok {
		return i
	}
	best, kind, length := -1, invalid, 0
	for _, d := range h.wild {
		if k, ok := fits(d.domain, authority); ok && (k > kind || k == kind && len(d.domain) > length) {
			best, kind, length = d.host, k, len(d.domain)
		}
	}
	return best
}

// authorities returns an authority for each domain, which it fits.
func (h *Hosts) authorities() (all []string) {
	for domain := range h.exact {
		all = append(all, domain)
	}
	for _, d := range h.wild {
		all = append(all, strings.ReplaceAll(d.domain, "*", "any"))
	}
	return all
}
