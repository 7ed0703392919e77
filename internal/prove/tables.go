package prove

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/internal/diff"
)

// routes compares the route tables of two connection managers.
func (p *prover) routes(what string, w way, a, b *manager) {
	for _, f := range envoy.HTTPFiltersOf(a.at, "http_filters", a.message.GetHttpFilters()) {
		if f.Kind == "basic_auth" || f.Kind == "jwt_authn" {
			w.passing = append(w.passing, f.Message.GetName())
		}
	}
	if a.message.GetScopedRoutes() != nil || b.message.GetScopedRoutes() != nil {
		p.scopes(what, w, a, b)
		return
	}
	if len(a.routes.Tables) != 1 || len(b.routes.Tables) != 1 {
		p.undecided(what + ": the route configuration is not in the input")
		return
	}
	p.tablePair(what, w, a, b, a.routes.Tables[0], b.routes.Tables[0])
}

// tablePair compares two tables that take the same requests.
func (p *prover) tablePair(what string, w way, a, b *manager, x, y *envoy.RouteTable) {
	c := &tables{prover: p, what: what, way: w, from: a, to: b, old: p.old.tableOf(x), now: p.now.tableOf(y)}
	c.hostNamed, c.routeNamed = p.sees(hostName), p.sees(routeName)
	c.compare()
}

// tables compares two route configurations.
type tables struct {
	*prover
	what                  string
	way                   way
	from, to              *manager
	old, now              *table
	hostNamed, routeNamed bool // something can see the names of virtual hosts, or routes
}

// table is a route configuration of one side.
type table struct {
	*side
	level   *envoy.RouteLevel
	domains match.Domains[*envoy.RouteLevel]
	names   []string // of the domains
	common  string   // what the table does with all requests
}

func (s *side) tableOf(t *envoy.RouteTable) *table {
	made := &table{side: s, level: t.Levels[0], common: s.ofTable(t.Levels[0])}
	made.domains.IgnorePort = made.level.Table.GetIgnorePortInHostMatching()
	for _, l := range t.Levels {
		if l.Host == nil || l.Route != nil {
			continue
		}
		for _, domain := range l.Host.GetDomains() {
			made.domains.Add(domain, l)
			made.names = append(made.names, ascii.Lower(domain))
		}
	}
	return made
}

const tablePrefix = "envoy.config.route.v3.RouteConfiguration."

// tableNames are the fields of a route configuration that are compared elsewhere, or that requests do not notice.
var tableNames = []string{tablePrefix + "name", tablePrefix + "virtual_hosts", tablePrefix + "vhds", tablePrefix + "validate_clusters", tablePrefix + "request_mirror_policies"}

// choosing are the fields of a route configuration that change which route takes a request.
var choosing = []func(*routev3.RouteConfiguration) bool{
	(*routev3.RouteConfiguration).GetIgnorePortInHostMatching, (*routev3.RouteConfiguration).GetIgnorePathParametersInPathMatching,
	func(t *routev3.RouteConfiguration) bool { return t.GetVhds() != nil },
}

func (c *tables) compare() {
	old, now := c.old.level, c.now.level
	for _, get := range choosing {
		if get(old.Table) != get(now.Table) {
			c.search(c.way)
			c.differing(c.what+", route configuration "+now.Table.GetName(), diff.Fields(old.At.Resource(), now.At.Resource(), old.Table, now.Table, tableNames[:2]...))
			break
		}
	}
	if old.Table.GetVhds() != nil || now.Table.GetVhds() != nil {
		c.undecided(c.what + ": virtual hosts come over VHDS")
	}
	type pair struct{ old, now *envoy.RouteLevel }
	seen := map[pair]bool{{nil, nil}: true}
	for _, name := range c.hosts() {
		name = c.asSent(name)
		x, _ := c.old.domains.Find(c.from.hostOf(name))
		y, _ := c.now.domains.Find(c.to.hostOf(name))
		if !seen[pair{x, y}] && !c.full() {
			seen[pair{x, y}] = true
			c.compareHosts(name, x, y)
		}
	}
}

// asSent returns a host that a client can send and that both tables see as a given one, after Envoy has removed a port or a dot.
func (c *tables) asSent(name string) string {
	for _, dot := range []string{"", "."} {
		for _, port := range []string{"", ":80", c.from.port, ":80:80", c.from.port + ":80"} {
			sent := name + dot + port
			if c.seen(c.from, c.old, sent) == name && c.seen(c.to, c.now, sent) == name {
				return sent
			}
		}
	}
	return name
}

// seen returns a host as a table compares it with domains.
func (c *tables) seen(m *manager, t *table, sent string) string {
	name := ascii.Lower(m.hostOf(sent))
	if t.domains.IgnorePort {
		return match.WithoutPort(name)
	}
	return name
}

// hosts returns a host of each cell: all hosts of a cell have the same virtual host in each of the tables. These are the domains without a star, and what
// ends with a domain, begins with another one, or neither.
func (c *tables) hosts() (found []string) {
	suffixes, prefixes := []string{""}, []string{""}
	var ends, begins match.Domains[string]
	for _, name := range slices.Concat(c.old.names, c.now.names) {
		switch {
		case name == "*":
		case strings.HasPrefix(name, "*"):
			if _, known := ends.Add(name, name); !known {
				suffixes = append(suffixes, name)
			}
		case strings.HasSuffix(name, "*"):
			if _, known := begins.Add(name, name); !known {
				prefixes = append(prefixes, name)
			}
		default:
			if _, known := ends.Add(name, ""); !known {
				begins.Add(name, "")
				found = append(found, name)
			}
		}
	}
	if len(suffixes)*len(prefixes) > maxHosts {
		c.undecided(c.what + ": there are too many domains with a star at either end")
		return found
	}
	for _, suffix := range suffixes {
		for _, prefix := range prefixes {
			if name, ok := hostIn(suffix, prefix, &ends, &begins); ok {
				found = append(found, name)
			} else {
				c.undecided(fmt.Sprintf("%s: hosts that fit %q and %q", c.what, suffix, prefix))
			}
		}
	}
	return found
}

const maxHosts = 200_000

// hostIn returns a host whose longest domains are a suffix and a prefix, each of which can be empty.
func hostIn(suffix, prefix string, ends, begins *match.Domains[string]) (string, bool) {
	for _, fresh := range []string{"any", "x", "xx", "0", "q-q", "7z7"} {
		name := strings.TrimSuffix(prefix, "*") + fresh + strings.TrimPrefix(suffix, "*")
		s, isListed := ends.Find(name)
		p, _ := begins.Find(name)
		if s == suffix && p == prefix && isListed == (suffix != "") {
			return name, true
		}
	}
	return "", false
}
