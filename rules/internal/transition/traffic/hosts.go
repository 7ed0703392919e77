package traffic

import (
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/internal/ascii"
)

// table is the virtual hosts of one route configuration by their domains: there can be ten thousands.
type table struct {
	hosts  map[string]*routev3.VirtualHost
	shared map[pair][]*routev3.VirtualHost
}

// pair is a virtual host of this table, and another table.
type pair struct {
	host  *routev3.VirtualHost
	other *table
}

func newTable() *table {
	return &table{hosts: map[string]*routev3.VirtualHost{}, shared: map[pair][]*routev3.VirtualHost{}}
}

func (t *table) add(host *routev3.VirtualHost) {
	for _, domain := range host.GetDomains() {
		if domain = ascii.Lower(domain); t.hosts[domain] == nil {
			t.hosts[domain] = host
		}
	}
}

// sharing lists the virtual hosts of another table that get requests which in this table go to a host of it, in no order.
func (t *table) sharing(host *routev3.VirtualHost, other *table) []*routev3.VirtualHost {
	key := pair{host, other}
	if known, ok := t.shared[key]; ok {
		return known
	}
	var all []*routev3.VirtualHost
	seen := map[*routev3.VirtualHost]bool{nil: true}
	take := func(there *routev3.VirtualHost) {
		if !seen[there] {
			seen[there] = true
			all = append(all, there)
		}
	}
	for _, domain := range host.GetDomains() {
		domain = ascii.Lower(domain)
		if t.choose(domain) == host {
			take(other.choose(domain))
		}
		if !isPattern(domain) {
			continue
		}
		for narrower, there := range other.hosts {
			if crosses(narrower, domain) || domainWithin(narrower, domain) && t.choose(narrower) == host {
				take(there)
			}
		}
	}
	t.shared[key] = all
	return all
}

// choose finds the virtual host that gets all requests for a domain: the one that has it, else the longest pattern around it, first
// among those that begin with a *.
func (t *table) choose(domain string) *routev3.VirtualHost {
	if host := t.hosts[domain]; host != nil {
		return host
	}
	tail, isSuffix := strings.CutPrefix(domain, "*")
	head, isPrefix := strings.CutSuffix(domain, "*")
	for i := 0; !isPrefix && i < len(tail); i++ {
		if host := t.hosts["*"+tail[i:]]; host != nil {
			return host
		}
	}
	for i := len(head); !isSuffix && i > 0; i-- {
		if host := t.hosts[head[:i]+"*"]; host != nil {
			return host
		}
	}
	return t.hosts["*"]
}

func isPattern(domain string) bool {
	return strings.HasPrefix(domain, "*") || strings.HasSuffix(domain, "*")
}

// domainWithin tells whether all hosts of a domain are hosts of another one too; both can have a * at one end.
func domainWithin(inner, outer string) bool {
	tail, isSuffix := strings.CutPrefix(outer, "*")
	head, isPrefix := strings.CutSuffix(outer, "*")
	switch {
	case inner == outer || outer == "*":
		return true
	case isSuffix:
		return !strings.HasSuffix(inner, "*") && strings.HasSuffix(inner, tail)
	case isPrefix:
		return !strings.HasPrefix(inner, "*") && strings.HasPrefix(inner, head)
	}
	return false
}

// crosses tells whether one domain begins with a * and the other ends with one: some host matches both.
func crosses(a, b string) bool {
	if a == "*" || b == "*" {
		return false
	}
	return strings.HasPrefix(a, "*") && strings.HasSuffix(b, "*") || strings.HasSuffix(a, "*") && strings.HasPrefix(b, "*")
}
