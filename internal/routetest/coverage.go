package routetest

import (
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/walk"
)

// Coverage says which parts of a configuration the tests reach.
type Coverage struct {
	Kind   string   `json:"kind"` // filter chain, domain, route, weighted cluster, override
	All    int      `json:"all"`
	Missed []Missed `json:"missed"`
}

// Missed is a part that no test reaches.
type Missed struct {
	Name     string          `json:"name"`
	Location report.Location `json:"location"`
}

// coverage groups parts by their kind, in the order in which the kinds first occur.
func coverage(parts []walk.PlacedPart, reached map[walk.Part]bool) (all []*Coverage) {
	byKind := map[string]*Coverage{}
	for _, p := range parts {
		c := byKind[p.Kind]
		if c == nil {
			c = &Coverage{Kind: p.Kind, Missed: []Missed{}}
			byKind[p.Kind] = c
			all = append(all, c)
		}
		c.All++
		if !reached[p.Part] {
			c.Missed = append(c.Missed, Missed{p.Name, report.LocationOf(p.At.Resource().File, p.At.Span())})
		}
	}
	return all
}
