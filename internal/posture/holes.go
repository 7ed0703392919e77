package posture

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// Hole is a request that gets to the resource of another one, without a guard of that one.
type Hole struct {
	Trick   string
	Cell    *Cell // of the request that is guarded
	Way     Way
	Lost    []walk.Guard // as they are for Way
	Below   bool         // the resource is another one, which an exemption covers because it compares text
	Further int          // holes of the same cause
}

// Same reports whether the upstream sees the same path. Otherwise, it depends on the upstream whether it is the same resource.
func (h *Hole) Same() bool { return h.Way.Path == h.Cell.Way.Path }

// holes finds the holes of a listener.
func (m *maker) holes(cells []*Cell) error {
	var all []*Hole
	byTarget := map[string][]*Cell{}
	for _, c := range cells {
		byTarget[c.Target] = append(byTarget[c.Target], c)
	}
	limit := min(maxOthers, 1+maxTried/max(len(cells), 1))
	for _, c := range cells {
		if !c.Way.Forwards() || c.Way.Path == "" || !slices.ContainsFunc(c.Way.Guards, func(g walk.Guard) bool { return g.State.Holds() }) {
			continue
		}
		for _, t := range append(tricks(c.Way.Sent), others(c, byTarget[c.Target], limit)...) {
			h, err := m.hole(c, t)
			if err != nil {
				return err
			}
			if h != nil {
				all = append(all, h)
			}
		}
	}
	m.report.Holes = append(m.report.Holes, distinct(all)...)
	return nil
}

// distinct keeps one hole of each cause, of those that avoid the most guards, and counts the others.
func distinct(all []*Hole) (kept []*Hole) {
	first := map[string]*Hole{}
	slices.SortStableFunc(all, func(a, b *Hole) int { return len(b.Lost) - len(a.Lost) })
	for _, h := range all {
		var known *Hole
		fresh := false
		for _, cause := range h.causes() {
			known = first[cause]
			if known == nil {
				first[cause], fresh = h, true
			}
		}
		if fresh {
			kept = append(kept, h)
		} else {
			known.Further++
		}
	}
	return kept
}

// hole returns the hole that a try is, or nil.
func (m *maker) hole(c *Cell, t try) (*Hole, error) {
	if m.enough(m.most) {
		return nil, nil
	}
	way, err := m.walk(&t.request)
	if err != nil || !way.Forwards() || way.Unknown["path"] != "" || way.target() != c.Target || !t.below && fold(way.Path) != fold(c.Way.Path) {
		return nil, err
	}
	lost := lostGuards(c.Way.Guards, way.Guards)
	if len(lost) == 0 || t.below && !m.ends(c, t) {
		return nil, nil
	}
	return &Hole{Trick: t.trick, Cell: c, Way: way, Lost: lost, Below: t.below}, nil
}

// ends reports whether an exemption that covers a longer name does not cover a shorter one, so that it is about the name between them.
func (m *maker) ends(c *Cell, t try) bool {
	path := *t.request.Path
	shorter := withPath(&t.request, path[:len(path)-2])
	way, err := m.walk(&shorter)
	return err == nil && way.Forwards() && len(lostGuards(c.Way.Guards, way.Guards)) == 0
}

// lostGuards returns the guards that hold at first and not then, as they are then.
func lostGuards(first, then []walk.Guard) (lost []walk.Guard) {
	for _, g := range first {
		if !g.State.Holds() {
			continue
		}
		if now, ok := counterpart(g, then); ok {
			lost = append(lost, now)
		}
	}
	return lost
}

// counterpart returns what has become of a guard that does not hold any longer: of the same name, or if there is none, all of its kind.
func counterpart(g walk.Guard, then []walk.Guard) (now walk.Guard, lost bool) {
	now = walk.Guard{Name: g.Name, Kind: g.Kind, State: walk.Absent, Why: "the filter chain does not have it"}
	for _, other := range then {
		switch {
		case other.Kind != g.Kind:
		case other.Name == g.Name && other.State != walk.Absent:
			return other, passes(other.State)
		case other.State.Holds():
			return other, false
		case other.Name == g.Name:
			now = other
		}
	}
	return now, true
}

// passes reports whether it is known that a guard in this state lets everything pass.
func passes(s walk.State) bool {
	return s == walk.Open || s == walk.Exempt || s == walk.Disabled || s == walk.Absent
}

// causes are the same for holes that one change of the configuration closes: one for each guard.
func (h *Hole) causes() (all []string) {
	for _, g := range h.Lost {
		all = append(all, fmt.Sprintf("%s\n%s\n%s %s\n%s %v", h.Trick, h.Way.Chain, g.Kind, g.Name, g.State, g.At.Span()))
	}
	return all
}

// Limits of what is tried for a cell, since each could be tried with what each other one has.
const (
	maxOthers = 200   // requests
	maxLooked = 2_000 // cells
)

// others returns the ways to a cell by what other cells with the same target have: host, connection, upgrade, headers, and paths without the guard.
func others(c *Cell, cells []*Cell, limit int) (all []try) {
	q := c.Way.Sent
	tried := map[string]bool{}
	for _, o := range cells[:min(len(cells), maxLooked)] {
		if len(all) >= limit {
			break
		}
		if o == c || len(lostGuards(c.Way.Guards, o.Way.Guards)) == 0 {
			continue
		}
		own := *o.Way.Sent
		plain, _, _ := strings.Cut(*own.Path, "?")
		if key := fmt.Sprint(*own.Authority, own.SNI, own.TLS, own.Headers); own.Method == q.Method {
			if !tried[key] {
				tried[key] = true
				all = append(all, try{trick: otherWay(q, &own), request: withPath(&own, *q.Path)})
			}
			if o.Way.Path != *own.Path { // its route rewrites paths
				all = append(all, try{trick: otherWay(q, &own), request: withPath(&own, strings.TrimSuffix(plain, "/")+*q.Path)})
			}
		}
		if sameHost(q, &own) && len(own.Headers) == 0 && own.Method == q.Method {
			all = append(all, below(q, &own, plain)...)
		}
	}
	return all
}

// below returns requests that begin with the path of an exemption.
func below(q, exempt *walk.Request, plain string) (all []try) {
	if up := strings.Count(strings.Trim(plain, "/"), "/") + 1; plain != "/" {
		back := strings.TrimSuffix(plain, "/") + strings.Repeat("/..", up)
		all = append(all, try{trick: "dot segments", request: withPath(q, back+*q.Path)},
			try{trick: "dot segments", request: withPath(q, strings.ReplaceAll(back, "..", "%2e%2e")+*q.Path)})
	}
	if !strings.HasSuffix(plain, "/") {
		all = append(all, try{trick: "a longer name", request: withPath(exempt, plain+"x"), below: true})
	}
	return all
}

func sameHost(a, b *walk.Request) bool {
	return *a.Authority == *b.Authority && a.SNI == b.SNI && a.TLS == b.TLS
}

// otherWay names what differs between two requests of the same path.
func otherWay(q, o *walk.Request) string {
	switch {
	case len(o.Headers) > len(q.Headers) && o.Headers[len(o.Headers)-1][0] == "upgrade":
		return "an upgrade"
	case len(o.Headers) > 0:
		return "a header"
	case *q.Authority != *o.Authority:
		return "another host"
	case q.SNI != o.SNI || q.TLS != o.TLS:
		return "another connection"
	}
	return "another route"
}
