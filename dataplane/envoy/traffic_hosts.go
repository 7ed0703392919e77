package envoy

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// table holds the virtual hosts of one route configuration by their domains.
type table struct {
	domains match.Domains[*routev3.VirtualHost]
	shared  map[pair][]*routev3.VirtualHost
}

// pair is a virtual host of this table and another table.
type pair struct {
	host  *routev3.VirtualHost
	other *table
}

func newTable() *table { return &table{shared: map[pair][]*routev3.VirtualHost{}} }

func (t *table) add(host *routev3.VirtualHost) {
	for _, domain := range host.GetDomains() {
		t.domains.Add(domain, host)
	}
}

// sharing returns the virtual hosts of another table that receive requests of a host of this table, in no particular order.
func (t *table) sharing(host *routev3.VirtualHost, other *table) []*routev3.VirtualHost {
	key := pair{host, other}
	if known, ok := t.shared[key]; ok {
		return known
	}
	var all []*routev3.VirtualHost
	seen := map[*routev3.VirtualHost]bool{}
	own := func(h *routev3.VirtualHost) bool { return h == host }
	t.domains.Sharing(host.GetDomains(), own, &other.domains, func(there *routev3.VirtualHost) {
		if !seen[there] {
			seen[there] = true
			all = append(all, there)
		}
	})
	t.shared[key] = all
	return all
}
