package difftest

import (
	"math/rand/v2"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// maker makes cases from a corpus. It is never modified, since cases are made in parallel.
type maker struct {
	corpus     *corpus
	byKind     map[Kind][2][]int // indexes of the seeds that hold such a resource: small examples, rich ones
	pool       *pool
	extensions *extensions
}

func newMaker(c *corpus) *maker {
	m := &maker{corpus: c, byKind: map[Kind][2][]int{}, pool: newPool(c), extensions: newExtensions(c)}
	for i, s := range c.seeds {
		size := 0
		if s.rich {
			size = 1
		}
		seen := map[Kind]bool{bootstrap: !hasSettings(s.root)}
		for _, p := range places(s.root) {
			if !seen[p.kind] {
				seen[p.kind] = true
				seeds := m.byKind[p.kind]
				seeds[size] = append(seeds[size], i)
				m.byKind[p.kind] = seeds
			}
		}
	}
	return m
}

// hasSettings reports whether a bootstrap has more than its resources.
func hasSettings(root *value) bool {
	return slices.ContainsFunc(root.keys, func(key string) bool { return !slices.Contains([]string{"admin", "node", "static_resources"}, key) })
}

// draft is a case that is being made.
type draft struct {
	*maker
	*rand.Rand
	root   *value
	places []place
	names  map[string][]string // the values of name fields, by nameGroup
}

// mutate changes a seed in one place, and at random in two or three.
func (m *maker) mutate(r *rand.Rand, index int) *Case {
	kind := Kinds[r.IntN(len(Kinds))]
	s := m.corpus.seeds[m.chooseSeed(r, kind)]
	d := &draft{maker: m, Rand: r, root: s.root.clone()}
	c := &Case{Index: index, Seed: s.name, Kind: kind, root: d.root}
	for range howMany(r) {
		d.look()
		if name := d.once(kind); name != "" {
			c.Mutations = append(c.Mutations, name)
		}
	}
	return c
}

// chooseSeed prefers rich seeds to the examples, which are many and similar.
func (m *maker) chooseSeed(r *rand.Rand, kind Kind) int {
	seeds := m.byKind[kind]
	of := seeds[0]
	if len(of) == 0 || len(seeds[1]) > 0 && r.IntN(10) < 6 {
		of = seeds[1]
	}
	return of[r.IntN(len(of))]
}

func howMany(r *rand.Rand) int {
	switch n := r.IntN(100); {
	case n < 80:
		return 1
	case n < 95:
		return 2
	}
	return 3
}

// look finds what can be mutated in the current tree.
func (d *draft) look() {
	d.places = places(d.root)
	d.names = map[string][]string{}
	d.root.each("", func(key string, v *value) {
		if group := nameGroup(key); group != "" && len(v.items) == 0 && v.text != "" && !slices.Contains(d.names[group], v.text) {
			d.names[group] = append(d.names[group], v.text)
		}
	})
}

// once chooses a mutation and tries it in several places until something changes, otherwise it chooses another
// mutation. It returns the mutation's name.
func (d *draft) once(kind Kind) string {
	const tries, placesEach = 20, 30
	before := d.root.clone()
	for range tries {
		m := mutations[d.weighted()]
		for range placesEach {
			if p, ok := d.choosePlace(kind); ok && m.change(d, p) && !d.root.equal(before) {
				return m.name
			}
		}
	}
	return ""
}

// choosePlace chooses a message type first, so that frequent messages such as endpoints and headers do not displace
// rare ones.
func (d *draft) choosePlace(kind Kind) (place, bool) {
	var types []protoreflect.FullName
	byType := map[protoreflect.FullName][]place{}
	for _, p := range d.places {
		if p.kind != kind {
			continue
		}
		name := p.md.FullName()
		if byType[name] == nil {
			types = append(types, name)
		}
		byType[name] = append(byType[name], p)
	}
	if len(types) == 0 {
		return place{}, false
	}
	return choose(d.Rand, byType[choose(d.Rand, types)]), true
}

func choose[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }
