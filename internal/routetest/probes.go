package routetest

import (
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// Limits of the requests that show what an edit changes.
const (
	maxCandidates = 50_000 // that are walked
	perWay        = 3      // that are kept of those that go the same way
)

// probe is a request, and what happens to it before any edit.
type probe struct {
	request *walk.Request
	answer  *walk.Answer
}

// probes returns requests at the boundaries of the matchers: of all that go the same way, and that the same candidates do not take, a few.
func (r *runner) probes() (all []probe) {
	hosts := walk.BoundariesByHost(r.view)
	everywhere := &set{host: "*"}
	connections := everywhere.connections(r, walk.BoundariesOf(r.view), "any.test")
	limit := maxCandidates/len(hosts) + 1
	kept := map[string]int{}
	for _, host := range hosts {
		b := host.Boundaries
		names := everywhere.hosts(b)
		paths := thinned(everywhere.paths(b), limit/(len(names)*len(connections)+1))
		for _, q := range product(connections, names, paths, everywhere.variations(b), limit) {
			a, err := r.walker.Walk(q)
			if err != nil {
				continue
			}
			if way := wayOf(a); kept[way] < perWay {
				kept[way]++
				all = append(all, probe{q, a})
			}
		}
	}
	return all
}

// thinned returns about n items of a list, and at least one, evenly.
func thinned[T any](all []T, n int) (some []T) {
	every := 1 + max(len(all)-1, 0)/max(n, 1)
	for i := 0; i < len(all); i += every {
		some = append(some, all[i])
	}
	return some
}

// wayOf returns a text that is the same for requests that go the same way.
func wayOf(a *walk.Answer) string {
	status := 0
	if a.Status != nil {
		status = *a.Status
	}
	var b strings.Builder
	fmt.Fprintln(&b, a.Listener, a.Chain, a.Scope, a.Table, a.Domain(), a.Route, status, a.Details, a.Target, len(a.Unknown))
	for _, p := range a.Passed {
		fmt.Fprintln(&b, p.Kind, p.Name, p.Why)
	}
	for _, f := range a.Filters {
		fmt.Fprintln(&b, f.Name, f.Kind, f.Does, f.Config)
	}
	return b.String()
}
