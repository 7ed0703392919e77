package sdk

import (
	"fmt"
	"iter"
	"strconv"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/pluginabi"
)

// Snapshot has the resources that are judged together.
type Snapshot struct {
	Target     string // the data plane to judge for: envoy:1.40
	Resources  []*Resource
	References []*Reference

	byType map[string][]*message
}

// Resource is one message that xDS delivers under a name.
type Resource struct {
	Kind      string // cluster, listener, route_configuration …
	Name      string
	File      string
	Type      string // full name of its message
	Bootstrap bool   // part of a bootstrap, not delivered over xDS

	References []*Reference // from it to others, in the order of its fields
	Referrers  []*Reference // from others to it

	index uint32
	own   map[string]*message
}

// Reference is a field of a resource that names another one.
type Reference struct {
	From *Resource
	At   At     // the field
	Kind string // of the resource that it names
	Name string
	To   *Resource // nil: no resource of that name is known
}

// message is decoded when a rule first reads it.
type message struct {
	raw *pluginabi.Message
	at  At
	is  proto.Message
}

// read decodes the Snapshot that the host sends.
func read(s *pluginabi.Snapshot) *Snapshot {
	snapshot := &Snapshot{Target: s.GetTarget(), byType: map[string][]*message{}}
	for i, r := range s.GetResources() {
		snapshot.Resources = append(snapshot.Resources, &Resource{
			Kind: r.GetKind(), Name: r.GetName(), File: r.GetFile(), Type: r.GetType(), Bootstrap: r.GetBootstrap(),
			index: uint32(i), own: map[string]*message{},
		})
	}
	for _, r := range s.GetReferences() {
		from := snapshot.Resources[r.GetFrom()]
		reference := &Reference{From: from, At: At{from, r.GetPath()}, Kind: r.GetKind(), Name: r.GetName()}
		from.References = append(from.References, reference)
		if r.To != nil {
			reference.To = snapshot.Resources[r.GetTo()]
			reference.To.Referrers = append(reference.To.Referrers, reference)
		}
		snapshot.References = append(snapshot.References, reference)
	}
	for _, raw := range s.GetMessages() {
		r := snapshot.Resources[raw.GetResource()]
		m := &message{raw: raw, at: At{r, raw.GetPath()}}
		snapshot.byType[raw.GetType()] = append(snapshot.byType[raw.GetType()], m)
		if raw.GetPath() == "" {
			r.own[raw.GetType()] = m
		}
	}
	return snapshot
}

func decoded[M proto.Message](m *message) M {
	if m.is == nil {
		var zero M
		m.is = zero.ProtoReflect().New().Interface()
		if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(m.raw.GetValue(), m.is); err != nil {
			panic(fmt.Sprintf("the %s from xdslint cannot be decoded: %v", m.raw.GetType(), err))
		}
	}
	return m.is.(M)
}

// All returns the messages of a type in the snapshot, wherever they are nested, with their places. The rule's check must read the type.
func All[M proto.Message](p *Pass) iter.Seq2[At, M] {
	var zero M
	name := nameOf(zero)
	p.mustRead(name)
	return func(yield func(At, M) bool) {
		for _, m := range p.Snapshot.byType[name] {
			if !yield(m.at, decoded[M](m)) {
				return
			}
		}
	}
}

// Message returns a resource's own message, if it is of this type. The rule's check must read the type.
func Message[M proto.Message](p *Pass, r *Resource) (m M, ok bool) {
	name := nameOf(m)
	p.mustRead(name)
	if own := r.own[name]; own != nil {
		return decoded[M](own), true
	}
	return m, false
}

// mustRead panics in a rule that would never find anything.
func (p *Pass) mustRead(name string) {
	for _, read := range p.Rule.Check.reads {
		if read == name {
			return
		}
	}
	panic(fmt.Sprintf("rule %s does not read %s: name it in sdk.Whole", p.Rule.ID, name))
}

// At returns the place of the resource as a whole.
func (r *Resource) At() At { return At{Resource: r} }

// At is a place that a finding can point to: a message, or one of its fields.
type At struct {
	Resource *Resource
	Path     string // from the resource's message: virtual_hosts[0].routes[2]; empty: the message itself
}

// Field returns the place of a field, or of a nested one if there are several names.
func (at At) Field(names ...string) At {
	for _, name := range names {
		if at.Path != "" {
			at.Path += "."
		}
		at.Path += name
	}
	return at
}

// Item returns the place of an element of a repeated field.
func (at At) Item(name string, i int) At {
	at = at.Field(name)
	at.Path += "[" + strconv.Itoa(i) + "]"
	return at
}

// Entry returns the place of the value under a key of a map field.
func (at At) Entry(name, key string) At {
	at = at.Field(name)
	at.Path += "[" + strconv.Quote(key) + "]"
	return at
}
