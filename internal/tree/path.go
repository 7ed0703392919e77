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
	name   string
	key    string // of a map entry
	index  int    // of a list element
	kind   stepKind
}

type stepKind uint8

const (
	fieldStep stepKind = iota
	itemStep
	entryStep
)

// Field returns the path of a field of the message at p.
func (p *Path) Field(name string) *Path { return &Path{parent: p, name: name} }

// Item returns the path of element i of a repeated field of the message at p.
func (p *Path) Item(name string, i int) *Path {
	return &Path{parent: p, name: name, index: i, kind: itemStep}
}

// Entry returns the path of the value under a key of a map field of the message at p.
func (p *Path) Entry(name, key string) *Path {
	return &Path{parent: p, name: name, key: key, kind: entryStep}
}

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
	return p.name
}

// Index returns the index of the list element that the last step leads to, -1 if it is not a list element.
func (p *Path) Index() int {
	if p == nil || p.kind != itemStep {
		return -1
	}
	return p.index
}

// Key returns the key in the last step, if the step leads to an entry of a map field.
func (p *Path) Key() (key string, ok bool) {
	if p == nil || p.kind != entryStep {
		return "", false
	}
	return p.key, true
}

// steps returns the steps of the path, the first one first.
func (p *Path) steps() []*Path {
	n := 0
	for s := p; s != nil; s = s.parent {
		n++
	}
	all := make([]*Path, n)
	for s := p; s != nil; s = s.parent {
		n--
		all[n] = s
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
		t := all[i]
		if s.name != t.name || s.kind != t.kind || s.index != t.index || s.key != t.key {
			return nil, false
		}
	}
	var rest *Path
	for _, s := range all[len(head):] {
		rest = rest.join(s)
	}
	return rest, true
}

// Join appends the steps of q to p.
func (p *Path) Join(q *Path) *Path {
	for _, s := range q.steps() {
		p = p.join(s)
	}
	return p
}

func (p *Path) join(last *Path) *Path {
	step := *last
	step.parent = p
	return &step
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
			b.WriteString(strconv.Itoa(s.index))
			b.WriteByte(']')
		case entryStep:
			b.WriteByte('[')
			b.WriteString(strconv.Quote(s.key))
			b.WriteByte(']')
		}
	}
	return b.String()
}
