package diff

import (
	"cmp"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/redact"
)

// Where is the subject of a change: a listener, a host or a route of it, a cluster or an endpoint of it, or another resource. If both snapshots have it,
// its name is the one in the new snapshot.
type Where struct {
	Listener string `json:"listener,omitempty"` // its name
	Address  string `json:"address,omitempty"`  // of the listener
	Chain    string `json:"chain,omitempty"`    // the filter chain, by the connections that it accepts; empty if it accepts all
	Table    string `json:"table,omitempty"`    // the route configuration, in snapshots without listeners
	Scope    string `json:"scope,omitempty"`    // the key of a scoped route configuration
	Host     string `json:"host,omitempty"`     // a domain of a virtual host
	Route    string `json:"route,omitempty"`    // what a route matches
	Cluster  string `json:"cluster,omitempty"`
	Endpoint string `json:"endpoint,omitempty"` // of the cluster, by its address
	Resource string `json:"resource,omitempty"` // KIND/NAME of any other resource
}

// Change is one difference. A nil value is not set.
type Change struct {
	Where  Where   `json:"where"`
	What   string  `json:"what"`
	Before *string `json:"before"`
	After  *string `json:"after"`

	exists bool // the place itself is added or removed
}

// Set stands for a value that is set but not shown, since it is large or may be a secret.
const Set = "set"

// Unreached is a resource that differs and that no listener leads to.
type Unreached struct {
	Kind   graph.Kind `json:"kind"`
	Name   string     `json:"name"`
	Change string     `json:"change"` // "comes", "goes" or "changes"
}

// Difference is the result of a comparison.
type Difference struct {
	Changes   []Change    `json:"changes"`   // by place, then in the order of a request's way
	Unreached []Unreached `json:"unreached"` // by kind, then by name
	Shadowed  []Shadowed  `json:"shadowed"`  // by place
	// Unknown lists what could not be compared, since only one of the snapshots has it.
	Unknown []string `json:"unknown"`
}

// Diff compares two built snapshots.
func Diff(before, after *graph.Snapshot) *Difference {
	from, to := newSide(before), newSide(after)
	names := pairListeners(from, to)
	pairClusters(from, to)
	clusters := map[string]bool{}
	from.reached(clusters)
	to.reached(clusters)
	tables := len(from.listeners)+len(to.listeners) == 0
	from.read(names, clusters, tables)
	to.read(names, clusters, tables)
	c := comparison{from: from, to: to, result: &Difference{Changes: []Change{}, Unreached: []Unreached{}, Shadowed: []Shadowed{}, Unknown: []string{}}}
	c.facts()
	c.orders()
	c.shadows()
	c.remainder()
	for _, change := range c.result.Changes {
		for _, value := range []*string{change.Before, change.After} {
			if value != nil {
				*value = redact.Looks(*value) // a redirect may have a password in its URL
			}
		}
	}
	slices.SortStableFunc(c.result.Changes, func(a, b Change) int { return compareWhere(a.Where, b.Where) })
	return c.result
}

func compareWhere(a, b Where) int {
	return cmp.Or(
		cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Cluster, b.Cluster),
		cmp.Compare(a.Address, b.Address), cmp.Compare(a.Listener, b.Listener), cmp.Compare(a.Chain, b.Chain), cmp.Compare(a.Table, b.Table),
		cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Route, b.Route), cmp.Compare(a.Endpoint, b.Endpoint),
	)
}

// listener is the place of the listener that w is in.
func (w Where) listener() Where { return Where{Listener: w.Listener, Address: w.Address} }

// chain is the place of the filter chain that w is in.
func (w Where) chain() Where {
	return Where{Listener: w.Listener, Address: w.Address, Chain: w.Chain}
}

// scope is the place of the route table that w is in.
func (w Where) scope() Where {
	w.Host, w.Route = "", ""
	return w
}

// host is the place of the host that w is in.
func (w Where) host() Where {
	w.Route = ""
	return w
}

// around lists the places that w is in and w itself, the widest first.
func (w Where) around() []Where {
	switch {
	case w.Cluster != "":
		return []Where{{Cluster: w.Cluster}, w}
	case w.Resource != "":
		return []Where{w}
	}
	return []Where{w.listener(), w.chain(), w.scope(), w.host(), w}
}
