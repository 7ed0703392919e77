package graph

// uses indexes the references by both of their ends.
type uses struct {
	from    map[*Resource][]*Edge
	to      map[*Resource][]*Edge
	reached map[*Resource]bool
}

func newUses(s *Snapshot) *uses {
	u := &uses{from: map[*Resource][]*Edge{}, to: map[*Resource][]*Edge{}, reached: map[*Resource]bool{}}
	for _, e := range s.Edges {
		u.from[e.From] = append(u.from[e.From], e)
		if e.To != nil && e.To != e.From {
			u.to[e.To] = append(u.to[e.To], e)
		}
	}
	kinds := roots(s)
	for _, r := range s.Resources {
		if kinds[r.Kind] {
			u.reach(r)
		}
	}
	return u
}

// roots returns the kinds where traffic enters. Without listeners the snapshot is incomplete: then its route
// configurations count as used, and so on.
func roots(s *Snapshot) map[Kind]bool {
	for _, kind := range []Kind{Listener, RouteConfiguration, ScopedRouteConfiguration, VirtualHost} {
		if len(s.byName[kind]) > 0 {
			return map[Kind]bool{Listener: true, Bootstrap: true, kind: true}
		}
	}
	return map[Kind]bool{Bootstrap: true, Cluster: true}
}

func (u *uses) reach(r *Resource) {
	if u.reached[r] {
		return
	}
	u.reached[r] = true
	for _, e := range u.from[r] {
		if e.To != nil {
			u.reach(e.To)
		}
	}
}

// From returns the references that a resource holds.
func (s *Snapshot) From(r *Resource) []*Edge { return s.uses.from[r] }

// To returns the references of other resources to a resource.
func (s *Snapshot) To(r *Resource) []*Edge { return s.uses.to[r] }

// Serves reports whether traffic can reach the resource, from a listener or the bootstrap. In a snapshot without
// listeners every route configuration counts as used; without route configurations, every cluster.
func (s *Snapshot) Serves(r *Resource) bool { return s.uses.reached[r] }
