package tree

import (
	"strconv"
	"strings"
)

// Path leads from a resource's message to one of its fields, with proto names whatever the file uses:
// `virtual_hosts[0].routes[2].route.cluster`. It passes through an Any as if the Any were its content. The nil Path is the
// message itself. Paths are immutable and share their beginnings.
type Path struct {
	parent *Path
	step   Step
}

// Step leads from a message to one of its fields, to an element of a repeated field, or to the value under a key of a
// map field. A walk makes a Path of its steps only where it needs one.
type Step struct {
	name  string
	key   string // of a map entry
	index int32  // of a list element
	kind  stepKind
}

type stepKind uint8

const (
	fieldStep stepKind = iota
	itemStep
	entryStep
)

// ToField returns the step to a field.
func ToField(name string) Step { return Step{name: name} }

// ToItem returns the step to element i of a repeated field.
func ToItem(name string, i int) Step { return Step{name: name, index: int32(i), kind: itemStep} }

// ToEntry returns the step to the value under a key of a map field.
func ToEntry(name, key string) Step { return Step{name: name, key: key, kind: entryStep} }

// Name returns the field's name.
func (s Step) Name() string { return s.name }

// After returns the path that goes this step further than p.
func (s Step) After(p *Path) *Path {
	after := s.Onto(p)
	return &after
}

// Onto is After for a path that the caller keeps in memory of its own.
func (s Step) Onto(p *Path) Path { return Path{parent: p, step: s} }

// Field returns the path of a field of the message at p.
func (p *Path) Field(name string) *Path { return ToField(name).After(p) }

// Item returns the path of element i of a repeated field of the message at p.
func (p *Path) Item(name string, i int) *Path { return ToItem(name, i).After(p) }

// Entry returns the path of the value under a key of a map field of the message at p.
func (p *Path) Entry(name, key string) *Path { return ToEntry(name, key).After(p) }

// Parent returns the path without its last step.
func (p *Path) Parent() *Path {
	if p == nil {
		return nil
	}
	return p.parent
}

// Name returns the field's name in the last step.
func (p *Path) Name() string {
	if p == nil {
		return ""
	}
	return p.step.name
}

// Index returns the index of the list element that the last step leads to, -1 if it is not a list element.
func (p *Path) Index() int {
	if p == nil || p.step.kind != itemStep {
		return -1
	}
	return int(p.step.index)
}

// Key returns the key in the last step, if the step leads to an entry of a map field.
func (p *Path) Key() (key string, ok bool) {
	if p == nil || p.step.kind != entryStep {
		return "", false
	}
	return p.step.key, true
}

// steps returns the steps of the path, the first one first.
func (p *Path) steps() []Step {
	n := 0
	for at := p; at != nil; at = at.parent {
		n++
	}
	all := make([]Step, n)
	for at := p; at != nil; at = at.parent {
		n--
		all[n] = at.step
	}
	return all
}

// TrimPrefix returns the rest of p below prefix, and whether p begins with prefix.
func (p *Path) TrimPrefix(prefix *Path) (*Path, bool) {
	all, head := p.steps(), prefix.steps()
	if len(all) < len(head) {
		return nil, false
	}
	for i, s := range head {
		if s != all[i] {
			return nil, false
		}
	}
	var rest *Path
	for _, s := range all[len(head):] {
		rest = s.After(rest)
	}
	return rest, true
}

// Join appends the steps of q to p.
func (p *Path) Join(q *Path) *Path {
	for _, s := range q.steps() {
		p = s.After(p)
	}
	return p
}

// String formats the path. The empty string is the message itself.
func (p *Path) String() string {
	var b strings.Builder
	for i, s := range p.steps() {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.name)
		switch s.kind {
		case itemStep:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(int(s.index)))
			b.WriteByte(']')
		case entryStep:
			b.WriteByte('[')
			b.WriteString(strconv.Quote(s.key))
			b.WriteByte(']')
		}
	}
	return b.String()
}
