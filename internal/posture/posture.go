// Package posture lists which guards run for which requests: client certificates, and HTTP filters that can reject requests for who sends them or how
// many they are.
//
// Of walks it makes cells: requests of one host and one route for which the guards do the same (cells.go). A hole is another request that reaches the
// same resource of the same cluster although a guard of the cell does not run for it (holes.go, of the variants in tricks.go). Policies say which guard
// has to run where (policy.go). Whatever is reported is what the walk does with the request that is shown.
package posture

import (
	"math"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/walk"
)

// Report is the posture of a configuration.
type Report struct {
	Cells    []*Cell
	Holes    []*Hole
	Policies []*Policy
	Unknown  []string // why something is not known
	Partial  bool     // there were more requests to try than the limit
}

// Cell is the requests of one host and one route for which the guards do the same.
type Cell struct {
	Listener string
	Chain    string
	Host     string   // the virtual host
	Domains  []string // of it
	Paths    string   // that the route takes
	Route    string
	With     string // what else distinguishes the requests, such as a header
	Split    bool   // the guards do something else for other paths of the route
	Target   string // the cluster, or what Envoy answers
	Way      Way    // of one of the requests

	rank [3]int // by which cells are in the order of the configuration
}

// Way is a request with what happens to it.
type Way struct {
	Sent *walk.Request
	*walk.Guarded
	matchers *walk.Boundaries
}

// Make makes a report. The policies are judged, too.
func Make(v graph.View, policies []*Policy) (*Report, error) {
	return MakeWithin(v, policies, math.MaxInt)
}

// MakeWithin makes a report of about so many walks at most: half of them for cells, and the others for holes.
func MakeWithin(v graph.View, policies []*Policy, walks int) (*Report, error) {
	all := walk.BoundariesOf(v)
	walker := walk.New(v)
	walker.Brief = true
	m := &maker{
		walker: walker, bounds: map[*routev3.VirtualHost]walk.Boundaries{}, all: &all, policies: policies,
		report: &Report{Policies: policies}, doubts: map[string]bool{}, most: walks,
	}
	for _, b := range walk.BoundariesByHost(v) {
		m.bounds[b.Host] = b.Boundaries
	}
	for _, l := range m.walker.Listeners() {
		if err := m.listener(l); err != nil {
			return nil, err
		}
	}
	for _, p := range policies {
		p.holes(m.report.Holes)
	}
	return m.report, nil
}

// Broken returns how many policies do not hold.
func (r *Report) Broken() (n int) {
	for _, p := range r.Policies {
		if !p.Holds() {
			n++
		}
	}
	return n
}
