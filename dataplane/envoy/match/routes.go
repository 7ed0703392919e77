package match

import (
	"slices"
	"strconv"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Routes are the routes of a virtual host, in order: the first that fits a request takes it. The zero value is empty.
type Routes struct {
	all    []*Route
	byHead map[string]bucket // by what all of a route's paths begin with
	spent  int               // on comparisons
}

// bucket has the routes with a head, by a condition that a route needs to have in order to be shadowed by them: see anchor.
type bucket map[string][]int

// What all comparisons may cost, which bounds the time that a large table takes: a part for all routes together, and one for each route.
const (
	patienceAtFirst  = 10_000
	patienceForRoute = 32
	regexCost        = 16 // of a regular expression
)

// Add appends a route. It returns the index of the first earlier route that is found to shadow it, or -1. All are found among hundreds of routes, and
// among any number of routes if few of them are like each other.
func (rs *Routes) Add(r *Route) int {
	by := rs.shadowing(r)
	if rs.byHead == nil {
		rs.byHead = map[string]bucket{}
	}
	head, anchor := r.head(), r.anchor()
	if rs.byHead[head] == nil {
		rs.byHead[head] = bucket{}
	}
	rs.byHead[head][anchor] = append(rs.byHead[head][anchor], len(rs.all))
	rs.all = append(rs.all, r)
	return by
}

// shadowing returns the index of the first route that shadows another one, or -1.
func (rs *Routes) shadowing(r *Route) int {
	by, head, anchors := -1, r.head(), r.anchors()
	for n := 0; n <= len(head); n++ {
		b := rs.byHead[head[:n]]
		if b == nil {
			continue
		}
		for _, anchor := range anchors {
			by = rs.firstOf(b[anchor], r, by)
		}
	}
	return by
}

// MayTake reports whether one of the first n routes may take a request that fits a route for one path.
func (rs *Routes) MayTake(r *Route, n int) bool {
	head := r.head()
	var all []int
	for end := 0; end <= len(head); end++ {
		for _, indexes := range rs.byHead[head[:end]] {
			all = append(all, indexes...)
		}
	}
	if rs.spent += len(all); !rs.patient() {
		return true
	}
	return slices.ContainsFunc(all, func(i int) bool { return i < n && rs.all[i].Meets(r) != No })
}

// firstOf returns the first of some routes that shadows another one, if it comes before a known one.
func (rs *Routes) firstOf(indexes []int, r *Route, known int) int {
	for _, i := range indexes {
		if known >= 0 && i > known {
			return known
		}
		rs.spent += rs.all[i].cost() * r.cost()
		if !rs.patient() {
			return known
		}
		if rs.all[i].Shadows(r) {
			return i
		}
	}
	return known
}

func (rs *Routes) patient() bool { return rs.spent <= patienceAtFirst+patienceForRoute*len(rs.all) }

// cost is what it costs to compare the route with another one.
func (r *Route) cost() int {
	n := 1 + len(r.conditions)
	if slices.ContainsFunc(r.paths, func(t text) bool { return t.form == other }) {
		n += regexCost
	}
	return n
}

// anchor is the condition by which a route is found: all routes that it shadows have it among their anchors.
func (r *Route) anchor() string {
	found := ""
	for _, c := range r.conditions {
		switch {
		case c.always():
		case len(c.values) == 1 && c.values[0].form == is && !c.not && !c.missing:
			return c.anchor() + ascii.Lower(c.values[0].literal)
		case found == "":
			found = c.anchor()
		}
	}
	return found
}

func (c condition) anchor() string { return strconv.Itoa(int(c.of)) + c.name + "\x00" }

// anchors are those of all routes that can shadow the route.
func (r *Route) anchors() []string {
	all := []string{""}
	for _, c := range r.conditions {
		all = append(all, c.anchor())
		for _, v := range c.values {
			if v.form == is {
				all = append(all, c.anchor()+ascii.Lower(v.literal))
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
