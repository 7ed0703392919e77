package match

import (
	"slices"
	"strings"
)

// fill finds the options of a dimension.
func (w *worlds) fill(at int, d *dimension, sample string) {
	switch {
	case d.chance:
		d.options = []option{{present: true, holds: 1}, {present: true}}
	case d.connect:
		d.options = []option{{present: true, known: !w.cell.pathless}, {present: true, holds: 1, known: true, values: []string{"CONNECT"}}}
	case d.path:
		d.options = w.pathOptions(d, sample)
	case d.of == tls:
		d.options = d.answers([]string{"false", "true"})
	default:
		d.options = w.valueOptions(at, d)
	}
	if len(d.options) > maxOptions {
		w.complete = false
	}
}

// pathOptions returns what the texts say about the paths of a cell.
func (w *worlds) pathOptions(d *dimension, sample string) []option {
	if len(d.texts) == 0 {
		return []option{{present: true, values: []string{sample}, known: true}}
	}
	paths := []string{sample}
	if w.cell.beyond {
		for _, p := range w.lists.beginning(w.cell.literal) {
			if p != w.cell.literal {
				paths = append(paths, p)
			}
		}
	}
	return w.opened(d, d.answers(paths))
}

// valueOptions returns what the texts say about the values of a header, a parameter or a cookie.
func (w *worlds) valueOptions(at int, d *dimension) []option {
	d.fresh = freshFor(d.texts)
	single := d.answers(d.values(w.lists.Headers[d.name]))
	options := append([]option{{known: true}}, single...)
	if strings.HasPrefix(d.name, ":") && d.of == header {
		options = options[1:]
	} else if d.of == header {
		options = append(options, united(single, w.valuesNeeded(at))...)
	}
	if d.exact() {
		return options
	}
	return w.opened(d, options)
}

// answers asks the texts about values. Of several values about which they say the same, the first stays.
func (d *dimension) answers(values []string) (all []option) {
	seen := map[uint64]bool{}
	for _, value := range values {
		o := option{present: true, values: []string{value}, known: true}
		sure := true
		for i, t := range d.texts[:min(len(d.texts), maxTexts)] {
			switch t.holds(value) {
			case Yes:
				o.holds |= 1 << i
			case Perhaps:
				sure = false
			}
		}
		if sure && !seen[o.holds] {
			seen[o.holds] = true
			all = append(all, o)
		}
	}
	return all
}

// valuesNeeded returns how many values of a header suffice to show all that two routes and those before them can say: one for each need of the two, and
// one for each need of the others that a value breaks.
func (w *worlds) valuesNeeded(at int) (n int) {
	breakable := map[uint64]bool{}
	for _, takers := range w.takers {
		most := 0
		for _, t := range takers {
			own := 0
			for _, need := range t.needs {
				switch {
				case need.dimension != at:
				case need.not:
					breakable[need.texts] = true
				default:
					own++
				}
			}
			most = max(most, own)
		}
		n += most
	}
	return n + len(breakable)
}

// united returns what the texts say about headers with several values, each of which is matched by itself.
func united(single []option, values int) (all []option) {
	seen := map[uint64]bool{}
	for _, o := range single {
		seen[o.holds] = true
	}
	last := single
	for n := 1; n < values && len(last) > 0; n++ {
		var next []option
		for _, a := range last {
			for _, b := range single {
				both := a.holds | b.holds
				if seen[both] {
					continue
				}
				seen[both] = true
				next = append(next, option{present: true, holds: both, values: slices.Concat(a.values, b.values), known: true})
				if len(all)+len(next) > maxOptions {
					return append(all, next...) // too many
				}
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// opened adds all combinations that have no example.
func (w *worlds) opened(d *dimension, known []option) []option {
	if len(d.texts) > maxOpen {
		w.complete = false
		return known
	}
	seen := map[uint64]bool{}
	for _, o := range known {
		if o.present {
			seen[o.holds] = true
		}
	}
	for holds := range uint64(1) << len(d.texts) {
		if !seen[holds] {
			known = append(known, option{present: true, holds: holds})
		}
	}
	return known
}

// exact reports whether values finds a value for each combination of texts that some value fits.
func (d *dimension) exact() bool {
	return d.fresh != "" && !d.dependent() && !slices.ContainsFunc(d.texts, func(t text) bool { return t.fold || t.form == contains || t.form == other })
}

// dependent reports whether other parts of the request decide the value.
func (d *dimension) dependent() bool {
	return d.of == header && (strings.HasPrefix(d.name, ":") && d.name != ":method" || d.name == "host" || d.name == "cookie")
}

// values returns values at the boundaries of the texts: each text, and each beginning with each end.
func (d *dimension) values(more []string) (all []string) {
	heads, tails := []string{""}, []string{""}
	for _, t := range d.texts {
		switch t.form {
		case is:
			all = append(all, t.literal)
		case begins:
			all, heads = append(all, t.literal), append(heads, t.literal)
		case ends:
			all, tails = append(all, t.literal), append(tails, t.literal)
		case contains:
			all = append(all, t.literal)
		}
	}
	for _, head := range heads {
		for _, tail := range tails {
			all = append(all, head+d.fresh+tail)
		}
	}
	return append(all, more...)
}

// freshFor returns a character that is in none of the texts, or nothing.
func freshFor(texts []text) string {
	for _, c := range "x~qz0Q-_^!" {
		if !slices.ContainsFunc(texts, func(t text) bool { return strings.ContainsRune(t.literal, c) }) {
			return string(c)
		}
	}
	return ""
}
