package match

import (
	"fmt"
	"slices"
)

// worlds are the combinations of what the matchers of some routes can say about the requests of a cell. Each dimension is one thing that they look at.
type worlds struct {
	lists      *Lists
	cell       cell
	dimensions []*dimension
	byName     map[string]int
	takers     [2][]taker
	complete   bool
}

// dimension is one thing that matchers look at, such as a header.
type dimension struct {
	of      subject
	name    string
	path    bool
	connect bool
	chance  bool // true or false, without an example
	texts   []text
	options []option
	fresh   string // a character that is in none of the texts; empty: there is none
}

// option is what the texts of a dimension can say together.
type option struct {
	present bool
	holds   uint64   // the texts that hold, as bits
	values  []string // an example, if known is set
	known   bool
}

// taker is a route with what it needs in order to take a request.
type taker struct {
	index int
	needs []need
}

// need holds if one of some texts of a dimension does.
type need struct {
	dimension    int
	texts        uint64
	missing, not bool
}

const (
	maxTexts   = 64 // as many as there are bits
	maxOpen    = 8  // texts in a dimension whose combinations are not known
	maxOptions = 5_000
	maxWorlds  = 100_000
	maxSpent   = 5_000_000
	maxShown   = 3 // examples for each pair and cell
)

func newWorlds(l *Lists, c cell, sample string, a, b []int) *worlds {
	w := &worlds{lists: l, cell: c, byName: map[string]int{}, complete: true}
	w.dimension("path", dimension{path: true})
	for side, list := range [][]int{a, b} {
		for _, i := range list {
			w.takers[side] = append(w.takers[side], taker{i, w.needsOf(l.route(side, i))})
		}
	}
	for i, d := range w.dimensions {
		w.fill(i, d, sample)
	}
	return w
}

// dimension returns the index of a dimension, and makes it if it is new.
func (w *worlds) dimension(key string, made dimension) int {
	if _, ok := w.byName[key]; !ok {
		w.byName[key] = len(w.dimensions)
		w.dimensions = append(w.dimensions, &made)
	}
	return w.byName[key]
}

// open returns the need for something that can be true or false.
func (w *worlds) open(key string) need {
	return need{dimension: w.dimension(key, dimension{chance: true}), texts: 1}
}

func (w *worlds) needsOf(r *Route) (all []need) {
	if r.connect {
		all = append(all, need{dimension: w.dimension("connect", dimension{connect: true}), texts: 1})
	} else if n, always := w.pathNeed(r); !always {
		all = append(all, n)
	}
	for i, c := range r.conditions {
		if c.vague || c.of == state {
			all = append(all, w.open(fmt.Sprintf("%p condition %d", r, i)))
			continue
		}
		all = append(all, w.conditionNeed(r, c))
	}
	if w.lists.shares(r) != Yes {
		all = append(all, w.open(fmt.Sprintf("share %v", *r.share)))
	}
	if r.vague {
		all = append(all, w.open(fmt.Sprintf("%p vague", r)))
	}
	if r.passes {
		all = append(all, w.open(fmt.Sprintf("%p passes", r)))
	}
	return all
}

func (w *worlds) pathNeed(r *Route) (n need, always bool) {
	for _, t := range r.paths {
		switch w.lists.onCell(t, w.cell) {
		case Yes:
			return need{}, true
		case Perhaps:
			n.texts |= w.bit(n.dimension, t, r)
		}
	}
	return n, false
}

func (w *worlds) conditionNeed(r *Route, c condition) need {
	n := need{missing: c.missing, not: c.not}
	n.dimension = w.dimension(fmt.Sprint(c.of, " ", c.name), dimension{of: c.of, name: c.name})
	for _, t := range c.values {
		n.texts |= w.bit(n.dimension, t, r)
	}
	return n
}

// bit returns the bit of a text in a dimension. Texts that are not known are those of the same route only.
func (w *worlds) bit(at int, t text, r *Route) uint64 {
	d := w.dimensions[at]
	if t.form == other && t.same == "" {
		t.same = fmt.Sprintf("%p %d", r, len(d.texts))
	}
	i := slices.IndexFunc(d.texts, func(o text) bool {
		return t.form == o.form && t.literal == o.literal && t.fold == o.fold && t.same == o.same
	})
	if i < 0 {
		i = len(d.texts)
		d.texts = append(d.texts, t)
	}
	if i >= maxTexts {
		w.complete = false
		return 0
	}
	return 1 << i
}

// compare yields the pairs of routes that are not alike and that a request of some world takes.
func (w *worlds) compare(yield func(Parting, bool) bool) bool {
	total := 1
	for _, d := range w.dimensions {
		if total *= len(d.options); !w.complete || total > maxWorlds {
			return yield(Parting{-1, -1, nil}, false)
		}
	}
	if w.lists.spent += total; w.lists.spent > maxSpent {
		return yield(Parting{-1, -1, nil}, false)
	}
	found := map[[2]int][]*Example{}
	var order [][2]int
	world := make([]option, len(w.dimensions))
	for n := range total {
		for i, d := range w.dimensions {
			world[i] = d.options[n%len(d.options)]
			n /= len(d.options)
		}
		pair := [2]int{first(w.takers[0], world), first(w.takers[1], world)}
		if w.lists.Alike(pair[0], pair[1]) {
			continue
		}
		if _, ok := found[pair]; !ok {
			found[pair] = nil
			order = append(order, pair)
		}
		if e := w.example(world); e != nil && len(found[pair]) < maxShown {
			found[pair] = append(found[pair], e)
		}
	}
	for _, pair := range order {
		if len(found[pair]) == 0 && !yield(Parting{pair[0], pair[1], nil}, true) {
			return false
		}
		for _, e := range found[pair] {
			if !yield(Parting{pair[0], pair[1], e}, true) {
				return false
			}
		}
	}
	return true
}

// first returns the first route that takes the requests of a world, or -1.
func first(takers []taker, world []option) int {
	for _, t := range takers {
		if !slices.ContainsFunc(t.needs, func(n need) bool { return !n.holds(world[n.dimension]) }) {
			return t.index
		}
	}
	return -1
}

func (n need) holds(o option) bool {
	if !o.present {
		return n.missing
	}
	return (o.holds&n.texts != 0) != n.not
}

// example returns a request of a world, or nil if none is known.
func (w *worlds) example(world []option) *Example {
	e := &Example{Pathless: w.cell.pathless, Certificate: map[string]bool{}}
	for i, o := range world {
		if !o.known {
			return nil
		}
		d := w.dimensions[i]
		for _, value := range o.values {
			pair := [2]string{d.name, value}
			switch {
			case d.path:
				e.Path = value
			case d.connect:
				e.Connect = true
			case d.of == header:
				e.Headers = append(e.Headers, pair)
			case d.of == query:
				e.Parameters = append(e.Parameters, pair)
			case d.of == cookie:
				e.Cookie = append(e.Cookie, pair)
			case d.of == tls:
				e.Certificate[d.name] = value == "true"
			}
		}
	}
	return e
}
