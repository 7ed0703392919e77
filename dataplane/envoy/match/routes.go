package match

import (
	"slices"
	"strconv"

	"github.com/xdslint/xdslint/internal/ascii"
)

// Routes are the routes of a virtual host, in order: the first that fits a request takes it. The zero value is empty.
type Routes struct {
	all         []*Route
	plain       map[string][]int            // routes without conditions, by what all of their paths begin with
	conditional map[string]map[string][]int // the others, also by a condition that a route needs to have in order to be shadowed by them: see anchor
	spent       int                         // on comparisons
}

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
	rs.Append(r)
	return by
}

// Append appends a route, without a comparison.
func (rs *Routes) Append(r *Route) {
	if rs.plain == nil {
		rs.plain, rs.conditional = map[string][]int{}, map[string]map[string][]int{}
	}
	head, anchor, i := r.head(), r.anchor(), len(rs.all)
	rs.all = append(rs.all, r)
	if anchor == "" {
		rs.plain[head] = append(rs.plain[head], i)
		return
	}
	if rs.conditional[head] == nil {
		rs.conditional[head] = map[string][]int{}
	}
	rs.conditional[head][anchor] = append(rs.conditional[head][anchor], i)
}

// shadowing returns the index of the first route that shadows another one, or -1.
func (rs *Routes) shadowing(r *Route) int {
	by, head, anchors := -1, r.head(), r.anchors()
	for n := 0; n <= len(head); n++ {
		by = rs.firstOf(rs.plain[head[:n]], r, by)
		for _, anchor := range anchors {
			by = rs.firstOf(rs.conditional[head[:n]][anchor], r, by)
		}
	}
	return by
}

// Taker returns the index of the route that certainly takes all requests that fit a route for one path, or -1.
func (rs *Routes) Taker(r *Route) int {
	if by := rs.shadowing(r); by >= 0 && rs.Takes(by, r) {
		return by
	}
	return -1
}

// Takes reports whether it is certain that a route takes all requests that fit a route for one path, so that no earlier one takes any of them.
func (rs *Routes) Takes(index int, r *Route) bool {
	if !rs.all[index].Covers(r) {
		return false
	}
	head := r.head()
	var all []int
	for n := 0; n <= len(head); n++ {
		all = append(all, rs.plain[head[:n]]...)
		for _, indexes := range rs.conditional[head[:n]] {
			all = append(all, indexes...)
		}
	}
	if rs.spent += len(all); !rs.patient() {
		return false
	}
	return !slices.ContainsFunc(all, func(i int) bool { return i < index && rs.all[i].Meets(r) != No })
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

// anchor is the condition by which a route is found: all routes that it shadows have it among their anchors. It is empty if there are no conditions.
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

// anchors are those of all routes with conditions that can shadow the route.
func (r *Route) anchors() (all []string) {
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
