package diff

import (
	"bytes"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
)

// comparison finds the differences between two sides.
type comparison struct {
	from, to *side
	result   *Difference
	blocked  map[Where]bool // places whose content only one side knows
}

func (c *comparison) add(w Where, what string, before, after *string) {
	c.result.Changes = append(c.result.Changes, Change{Where: w, What: what, Before: before, After: after})
}

func (c *comparison) facts() {
	c.block()
	for _, old := range c.from.facts {
		now := c.to.byKey[key{old.where, old.what}]
		switch {
		case c.skip(old.where, old.what) || c.inBothShadows(old.where):
		case now == nil:
			c.only(old, c.from, c.to, func(f *fact) (before, after *string) { return text(f.value), nil })
		case old.unknown != now.unknown && (old.value == "" || now.value == "" || old.value == now.value):
		default:
			c.both(old, now)
		}
	}
	for _, now := range c.to.facts {
		if c.from.byKey[key{now.where, now.what}] == nil && !c.skip(now.where, now.what) && !c.inBothShadows(now.where) {
			c.only(now, c.to, c.from, func(f *fact) (before, after *string) { return nil, text(f.value) })
		}
	}
}

// block records what only one side knows.
func (c *comparison) block() {
	c.blocked = map[Where]bool{}
	for _, old := range c.from.facts {
		now := c.to.byKey[key{old.where, old.what}]
		if now == nil || old.unknown == now.unknown || old.value != "" && now.value != "" && old.value != now.value {
			continue
		}
		known := map[bool]string{true: "NEW", false: "OLD"}[old.unknown]
		c.result.Unknown = append(c.result.Unknown, fmt.Sprintf("%s of %s: known only in %s", old.what, old.where, known))
		if old.what == "routes" || old.what == "virtual hosts" || old.what == "endpoints" {
			c.blocked[old.where] = true
		}
	}
}

// skip reports whether a fact is below something that only one side knows.
func (c *comparison) skip(w Where, what string) bool {
	if len(c.blocked) == 0 {
		return false
	}
	below := w.Host != "" || w.Endpoint != "" || w.Scope != "" || strings.HasPrefix(what, "all routes") || strings.HasPrefix(what, "locality")
	if !below {
		return false
	}
	for _, at := range w.around() {
		if c.blocked[at] {
			return true
		}
	}
	return false
}

// only adds the change of a fact that only one side has.
func (c *comparison) only(f *fact, own, other *side, values func(*fact) (before, after *string)) {
	if f.part || f.value == "" || own.shadowed[f.where] != nil && !other.hasRoute(f.where) || c.untouched(f.where, own, other) {
		return
	}
	before, after := values(f)
	c.result.Changes = append(c.result.Changes, Change{Where: f.where, What: f.what, Before: before, After: after, exists: f.exists})
}

// untouched reports whether a place is in the bootstrap of one side, and the other side does not have a bootstrap: it is what is pushed to a data
// plane that has one.
func (c *comparison) untouched(w Where, own, other *side) bool {
	if b, _ := other.snapshot.Bootstrap(); b != nil {
		return false
	}
	return own.booted[w.around()[0]]
}

func (c *comparison) both(old, now *fact) {
	if old.exact != now.exact {
		c.add(now.where, now.what, text(old.value), text(now.value))
	}
	if old.message.message == nil || now.message.message == nil {
		return
	}
	d := differ{from: old.message, to: now.message, cluster: c.from.cluster, skip: now.skip}
	if len(c.from.renamed) == 0 && proto.Equal(old.message.message, now.message.message) {
		return
	}
	d.messages("", old.message.message.ProtoReflect(), now.message.message.ProtoReflect())
	told := now.told != "" && c.differs(now.where, now.told)
	for _, one := range d.found {
		if told && (one.before == nil || one.after == nil) {
			continue
		}
		what := one.path
		switch {
		case now.what != "" && what == "":
			what = now.what
		case now.what != "":
			what = now.what + ": " + what
		}
		c.add(now.where, what, one.before, one.after)
	}
}

// differs reports whether both sides have a fact and it differs.
func (c *comparison) differs(w Where, what string) bool {
	old, now := c.from.byKey[key{w, what}], c.to.byKey[key{w, what}]
	return old != nil && now != nil && old.exact != now.exact
}

// orders finds hosts whose routes are tried in a different order, if that matters.
func (c *comparison) orders() {
	for _, f := range c.from.facts {
		if f.what != "host" {
			continue
		}
		if first, second, found := overtaken(newSequence(c.from.orders[f.where]), newSequence(c.to.orders[f.where])); found {
			c.add(f.where, "order of routes", text(first+" before "+second), text(second+" before "+first))
		}
	}
}

// remainder compares, resource by resource, everything that facts do not cover.
func (c *comparison) remainder() {
	for _, kind := range graph.Kinds() {
		if kind == graph.Bootstrap {
			continue
		}
		old, now := byIdentity(c.from.snapshot, kind), byIdentity(c.to.snapshot, kind)
		for _, id := range keys(union(old, now)) {
			name, _, _ := strings.Cut(id, "\n")
			c.resource(kind, name, old[id], now[id])
		}
	}
}

func byIdentity(s *graph.Snapshot, kind graph.Kind) map[string]*graph.Resource {
	all := map[string]*graph.Resource{}
	for _, r := range firsts(s, kind) {
		all[identity(r)] = r
	}
	return all
}

func union(a, b map[string]*graph.Resource) map[string]bool {
	all := map[string]bool{}
	for _, m := range []map[string]*graph.Resource{a, b} {
		for name := range m {
			all[name] = true
		}
	}
	return all
}

func (c *comparison) resource(kind graph.Kind, name string, old, now *graph.Resource) {
	if c.from.seen[old] || c.to.seen[now] || old != nil && now != nil && graph.Equal(old, now) {
		return
	}
	change := map[[2]bool]string{{false, true}: "comes", {true, false}: "goes", {true, true}: "changes"}[[2]bool{old != nil, now != nil}]
	lacks := func(s *side, r *graph.Resource) bool { // r is in a bootstrap, and s does not have a bootstrap
		b, _ := s.snapshot.Bootstrap()
		return b == nil && r != nil && r.Delivery == graph.FromBootstrap
	}
	if old == nil && lacks(c.from, now) || now == nil && lacks(c.to, old) {
		return
	}
	serves := old != nil && c.from.serves(old) || now != nil && c.to.serves(now)
	switch {
	case !serves:
		c.result.Unreached = append(c.result.Unreached, Unreached{Kind: kind, Name: name, Change: change})
	case old != nil && now != nil && (redacted(old) || redacted(now)):
		c.result.Unknown = append(c.result.Unknown, fmt.Sprintf("%s %q: a config_dump does not show its content", kind, name))
	default:
		c.whole(Where{Resource: string(kind) + "/" + name}, old, now)
	}
}

// whole compares two versions of a resource. Of a secret it only reports that it changes.
func (c *comparison) whole(w Where, old, now *graph.Resource) {
	switch {
	case old == nil:
		c.result.Changes = append(c.result.Changes, Change{Where: w, What: "content", After: text(Set), exists: true})
	case now == nil:
		c.result.Changes = append(c.result.Changes, Change{Where: w, What: "content", Before: text(Set), exists: true})
	case now.Kind == graph.Secret:
		c.add(w, "content", text(Set), text(Set))
	default:
		c.both(
			&fact{where: w, message: held{old, old.Message}},
			&fact{where: w, message: held{now, now.Message}})
	}
}

// redacted reports whether a config_dump has left out the content of a secret.
func redacted(r *graph.Resource) bool {
	if r.Kind != graph.Secret {
		return false
	}
	// After an error, the bytes that could be written are sufficient.
	text, _ := proto.MarshalOptions{AllowPartial: true}.Marshal(r.Message)
	return bytes.Contains(text, []byte("[redacted]"))
}
