package requestbar

import (
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/posture"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
)

// Holes are the requests that get past a guard, and some requests to begin with.
type Holes struct {
	Holes    []Hole   `json:"holes"`
	Partial  bool     `json:"partial"` // not all requests could be tried
	Examples []string `json:"examples"`
}

// Hole is a request that gets past a guard.
type Hole struct {
	Title  string  `json:"title"`
	Says   string  `json:"says"`
	Host   string  `json:"host"` // the virtual host of the request that is guarded
	Target string  `json:"target"`
	Guards []Guard `json:"guards"`
	More   int     `json:"more"` // holes of the same cause
	Curl   string  `json:"curl"`
}

// Guard is why a guard does not hold.
type Guard struct {
	Says     string           `json:"says"`
	Location *report.Location `json:"location"`
}

const (
	maxWalks    = 20_000
	maxHoles    = 100
	maxExamples = 5
)

// FindHoles finds the holes in a configuration, with a bounded number of walks.
func FindHoles(s *graph.Snapshot) (any, error) {
	found, err := posture.MakeWithin(s, nil, maxWalks)
	if err != nil {
		return nil, err
	}
	h := &Holes{Holes: []Hole{}, Examples: []string{}, Partial: found.Partial}
	for _, hole := range found.Holes[:min(len(found.Holes), maxHoles)] {
		h.Holes = append(h.Holes, shown(hole))
	}
	h.Partial = h.Partial || len(found.Holes) > maxHoles
	for _, c := range found.Cells {
		if line := lineOf(c.Way.Sent); line != "" && len(h.Examples) < maxExamples && !slices.Contains(h.Examples, line) {
			h.Examples = append(h.Examples, line)
		}
	}
	return h, nil
}

func shown(hole *posture.Hole) Hole {
	h := Hole{
		Title: hole.Title(), Says: words.Printable(hole.Says()), Host: words.Name(hole.Cell.Host), Target: words.Name(hole.Cell.Target), Guards: []Guard{},
		More: hole.Further, Curl: hole.Way.Curl(),
	}
	for _, g := range hole.Lost {
		h.Guards = append(h.Guards, Guard{words.Printable(posture.GuardName(g) + ": " + g.Why), locationOf(g.At)})
	}
	return h
}

// lineOf writes a request as people type it; empty if that takes more than a line.
func lineOf(r *walk.Request) string {
	if r.Authority == nil || r.Path == nil || len(r.Headers) > 0 || r.ProxyProtocol != nil || !strings.HasPrefix(*r.Path, "/") || strings.ContainsAny(*r.Path, " #") {
		return ""
	}
	scheme := "http"
	if r.TLS {
		scheme = "https"
		if name, _, err := hostAndPort(*r.Authority); err != nil || name != r.SNI {
			return ""
		}
	}
	return r.Method + " " + scheme + "://" + *r.Authority + *r.Path
}
