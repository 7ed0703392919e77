package diff

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/words"
)

// block is the text about one place, or about several with the same changes.
type block struct {
	names []string // hosts, or the name of one other place
	inner []string // where the hosts are
	fate  string   // of the place itself: ": new", ": removed"
	lines []line
}

type line struct{ label, text string }

// Text writes the difference for people.
func (d *Difference) Text(w io.Writer) error {
	var b strings.Builder
	for _, one := range merged(d.blocks()) {
		one.write(&b)
	}
	for _, u := range d.Unknown {
		fmt.Fprintf(&b, "not compared: %s\n", u)
	}
	if len(d.Unreached) > 0 {
		fmt.Fprintf(&b, "nothing that serves traffic refers to what differs here: %s\n", d.unreached())
	}
	d.writeShadowed(&b)
	if len(d.Unknown)+len(d.Unreached)+len(d.Shadowed) > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(d.summary() + "\n")
	_, err := io.WriteString(w, words.Printable(b.String())) // paths and names are quoted as they are
	return err
}

// unreachedText is Unreached.Change for people.
var unreachedText = map[string]string{"comes": "added", "goes": "removed", "changes": "changed"}

func (d *Difference) unreached() string {
	var all []string
	for _, u := range d.Unreached {
		all = append(all, fmt.Sprintf("%s %s (%s)", strings.ReplaceAll(string(u.Kind), "_", " "), u.Name, unreachedText[u.Change]))
	}
	return strings.Join(all, ", ")
}

func (d *Difference) summary() string {
	hosts, listeners, clusters, others := map[string]bool{}, map[Where]bool{}, map[string]bool{}, map[Where]bool{}
	for _, c := range d.Changes {
		switch w := c.Where; {
		case w.Resource != "":
			others[w] = true
		case w.Cluster != "":
			clusters[w.Cluster] = true
		case w.Host != "":
			hosts[w.Host] = true
		default:
			listeners[w.listener()] = true
		}
	}
	var parts []string
	total := 0
	for _, one := range []struct {
		n    int
		name string
	}{{len(listeners), "listener"}, {len(hosts), "host"}, {len(clusters), "cluster"}, {len(others), "other resource"}} {
		if total += one.n; one.n > 0 {
			parts = append(parts, words.Count(one.n, one.name))
		}
	}
	rest := "everything else is unchanged"
	if len(d.Unknown) > 0 {
		rest = "everything else that OLD and NEW both hold is unchanged"
	}
	switch total {
	case 0:
		return "nothing changes for traffic" + map[bool]string{true: ", as far as OLD and NEW both hold it"}[len(d.Unknown) > 0]
	case 1:
		return parts[0] + " changes for traffic; " + rest
	}
	return strings.Join(parts, ", ") + " change for traffic; " + rest
}

// blocks groups the changes by place. Changes inside a place that is added or removed belong to that place.
func (d *Difference) blocks() []*block {
	fates := map[Where]string{}
	for _, c := range d.Changes {
		if c.exists {
			fates[c.Where] = fate(c)
		}
	}
	byPlace := map[Where][]Change{}
	var order []Where
	for _, c := range d.Changes {
		at := c.Where
		at.Route, at.Endpoint = "", ""
		for _, wider := range at.around() {
			if fates[wider] != "" {
				at = wider
				break
			}
		}
		if byPlace[at] == nil {
			order = append(order, at)
		}
		byPlace[at] = append(byPlace[at], c)
	}
	var all []*block
	for _, at := range order {
		all = append(all, newBlock(at, fates[at], byPlace[at]))
	}
	return all
}

func fate(c Change) string {
	if c.Before == nil {
		return ": new"
	}
	return ": removed"
}

func newBlock(at Where, fate string, changes []Change) *block {
	b := &block{names: []string{at.String()}, fate: fate}
	if at.Host != "" {
		b.names, b.inner = []string{at.Host}, []string{at.inner()}
	}
	switch {
	case fate == ": removed":
	case fate != "" && at.Cluster == "" && at.Host == "":
		b.lines = inside(changes)
	case at.Cluster != "" && changes[0].What == "name" && fate == "":
		b.names, b.lines = []string{"renamed " + arrow(changes[0], "cluster ") + ", nothing else"}, nil
	default:
		b.lines = lines(changes, fate != "")
	}
	return b
}

// inside summarizes the content of a new listener or filter chain.
func inside(changes []Change) []line {
	var all []line
	hosts, routes := map[string]bool{}, 0
	for _, c := range changes {
		switch {
		case c.Where.Host == "" && !c.exists && c.What != "protocol" && shown(c.After) != "none" && shown(c.After) != "all":
			all = append(all, line{c.What, shown(c.After)})
		case c.Where.Host != "":
			hosts[c.Where.Host] = true
			if c.exists && c.Where.Route != "" {
				routes++
			}
		}
	}
	if len(hosts) > 0 {
		all = append(all, line{"hosts", list(slices.Sorted(maps.Keys(hosts))) + " (" + words.Count(routes, "route") + ")"})
	}
	return all
}

// lines returns the lines about a listener, host or cluster. For a new one they describe it.
func lines(changes []Change, isNew bool) []line {
	var all []line
	var added, removed []string
	endpoints := -1
	for _, c := range changes {
		switch {
		case c.Where.Endpoint != "" && c.exists:
			if endpoints < 0 {
				endpoints = len(all)
				all = append(all, line{})
			}
			if c.Before == nil {
				added = append(added, c.Where.Endpoint)
			} else {
				removed = append(removed, c.Where.Endpoint)
			}
		case isNew && (c.exists && c.Where.Route == "" || usual[line{c.What, shown(c.After)}]):
		case isNew:
			all = append(all, line{or(c.Where.Route, c.What), shown(c.After)})
		default:
			all = append(all, changed(c))
		}
	}
	if endpoints >= 0 {
		all[endpoints] = line{"endpoints", endpointsText(added, removed, isNew)}
	} else if isNew && changes[0].Where.Cluster != "" && !slices.ContainsFunc(all, func(l line) bool { return l.label == "endpoints" }) {
		all = append(all, line{"endpoints", "none are known"})
	}
	if changes[0].Where.Host == "" {
		return all
	}
	return grouped(all)
}

// usual lists what is not mentioned about a new cluster.
var usual = map[line]bool{{"endpoints found by", "a list"}: true, {"protocol", "HTTP/1.1"}: true, {"TLS", "none"}: true}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func endpointsText(added, removed []string, isNew bool) string {
	if isNew {
		return list(added)
	}
	var parts []string
	if len(added) > 0 {
		parts = append(parts, list(added)+" added")
	}
	if len(removed) > 0 {
		parts = append(parts, list(removed)+" removed")
	}
	return strings.Join(parts, ", ")
}

// changed describes one change.
func changed(c Change) line {
	label := or(c.Where.Route, c.Where.Endpoint)
	switch {
	case c.exists && c.Before == nil:
		return line{label, "new: " + shown(c.After)}
	case c.exists:
		return line{label, "removed (was " + shown(c.Before) + ")"}
	case label == "":
		return line{c.What, arrow(c, "")}
	case c.What == "action" || c.What == "endpoint":
		return line{label, arrow(c, "")}
	}
	return line{label, c.What + " " + arrow(c, "")}
}

func shown(value *string) string {
	if value == nil {
		return "none"
	}
	return *value
}

// arrow describes what a value was, and what it is now.
func arrow(c Change, noun string) string {
	before, after := shown(c.Before), shown(c.After)
	switch {
	case before == Set && after == Set:
		return "changes"
	case before == Set && c.After == nil:
		return "is removed"
	case after == Set && c.Before == nil:
		return "is added"
	case before == after:
		return before + ": its content changes"
	}
	return noun + before + " → " + after
}

// grouped joins the labels of lines with the same text.
func grouped(all []line) []line {
	labels := map[string][]string{}
	for _, l := range all {
		labels[l.text] = append(labels[l.text], l.label)
	}
	var result []line
	done := map[string]bool{}
	for _, l := range all {
		if done[l.text] {
			continue
		}
		done[l.text] = true
		names := labels[l.text]
		if len(names) > 3 {
			names = append(names[:2:2], fmt.Sprintf("%d more", len(names)-2))
		}
		label := names[0]
		if len(names) > 1 {
			label = strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
		}
		result = append(result, line{label, l.text})
	}
	return result
}

// merged joins blocks with the same text: those of hosts of one listener, then those of the same hosts in several listeners.
func merged(all []*block) []*block {
	all = joined(all, func(b *block) string { return strings.Join(b.inner, "; ") }, func(to, b *block) { to.names = append(to.names, b.names...) })
	return joined(all, func(b *block) string { return strings.Join(b.names, ", ") }, func(to, b *block) { to.inner = append(to.inner, b.inner...) })
}

func joined(all []*block, keyOf func(*block) string, add func(to, b *block)) []*block {
	known := map[string]*block{}
	var result []*block
	for _, b := range all {
		k := fmt.Sprint(keyOf(b), b.fate, b.lines)
		if same := known[k]; same != nil && len(b.inner) > 0 {
			add(same, b)
			continue
		}
		known[k] = b
		result = append(result, b)
	}
	return result
}

func (b *block) write(w *strings.Builder) {
	w.WriteString(list(b.names))
	if len(b.inner) > 0 {
		w.WriteString(" (" + strings.Join(b.inner, "; ") + ")")
	}
	w.WriteString(b.fate + "\n")
	const widest = 32
	width := 0
	for _, l := range b.lines {
		if n := utf8.RuneCountInString(l.label); n <= widest {
			width = max(width, n)
		}
	}
	label := ""
	for _, l := range b.lines {
		shown := l.label
		if shown == label {
			shown = ""
		}
		label = l.label
		fmt.Fprintf(w, "  %-*s  %s\n", width, shown, l.text)
	}
}
