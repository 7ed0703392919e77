package decode

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	envoytypes "github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// Types looks up message types by full name. *protoregistry.Types implements it.
type Types interface {
	FindMessageByName(protoreflect.FullName) (protoreflect.MessageType, error)
}

// ProblemKind says why a text does not fit its message type.
type ProblemKind uint8

// The kinds of problems.
const (
	UnknownField ProblemKind = iota // a key that is not a field of the message
	UnknownEnum                     // a name that is not a value of the enum
	UnknownType                     // an Any whose type is not linked in
	BadAny                          // an Any without "@type", or whose bytes are not of its type
	BadValue                        // a value that the field's type cannot hold
	OneofTwice                      // two members of one oneof
	DuplicateKey                    // a key twice in one map
	TooDeep                         // nesting beyond the limit
	Syntax                          // the text cannot be read; Name is "template" if it must be rendered first, or the type that it lacks
	Unreadable                      // the file could not be read: missing, empty, too large
	OldType                         // a v2 message; Name is its type
	BadObject                       // a Kubernetes object whose fields around its xDS are missing or wrong
)

// Problem is a place where a text does not match its message type. The rest of the text is decoded anyway.
type Problem struct {
	Kind    ProblemKind
	Path    *tree.Path
	Span    source.Span
	Message string
	Name    string                         // of the unknown field, enum value or type
	In      protoreflect.MessageDescriptor // the message that lacks the field, or that a value is not
	Enum    protoreflect.EnumDescriptor    // the enum that lacks the value
	Node    *tree.Node                     // the value there; nil for binary input
	Lenient bool                           // Envoy accepts it: duplicate keys in YAML, for example
	Carried bool                           // in a TypedStruct, which only Envoy reads
}

// Contents holds the content of the Anys of one input, decoded when the input was read. It also holds the messages in TypedStructs.
type Contents map[proto.Message]proto.Message

// Format is the encoding of a text; its reader decides what is accepted as a message: Envoy, or the Kubernetes
// controller that reads the object around the text.
type Format uint8

// The formats.
const (
	YAML Format = iota
	JSON
	Jsonpb    // an object that Istio reads: github.com/golang/protobuf/jsonpb
	ProtoJSON // an object that Envoy Gateway reads: google.golang.org/protobuf/encoding/protojson
)

// ofObject reports whether the format is one of Kubernetes objects. Their readers in Go accept only the JSON mapping that protobuf defines.
func (f Format) ofObject() bool { return f == Jsonpb || f == ProtoJSON }

// lastWins reports whether the last of two equal keys counts, without an error.
func (f Format) lastWins() bool { return f == YAML || f.ofObject() }

// Decoder turns texts into messages.
type Decoder struct {
	Types    Types
	Format   Format
	Depth    int // number of maps and lists around the decoded value
	Contents Contents
	Problems []Problem
	Seen     []Seen      // for the loader: where more resources come from
	Ended    func() bool // whether what is decoded is of no use any more; nil: never

	trail // where it is, from the decoded message
}

// Seen is a ConfigSource, or a message that allows clusters on demand, wherever it is nested.
type Seen struct {
	Field   protoreflect.FieldDescriptor // that holds it
	Message protoreflect.Message
	Path    *tree.Path
}

// watched lists the messages for Decoder.Seen.
var watched = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.ConfigSource":                               true,
	"envoy.config.core.v3.DataSource":                                 true,
	"envoy.extensions.filters.http.on_demand.v3.OnDemandCds":          true,
	"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.OnDemand": true,
	"envoy.extensions.transport_sockets.tls.v3.TlsSessionTicketKeys":  true, // a list of data sources
}

// NewDecoder returns a decoder for one input. With nil types it knows those of Envoy's v3 API.
func NewDecoder(types Types) *Decoder {
	if types == nil {
		types = envoytypes.Envoy
	}
	return &Decoder{Types: types}
}

// Reset makes the decoder ready for the next input.
func (d *Decoder) Reset() { *d = Decoder{Types: d.Types, Ended: d.Ended, trail: d.trail[:0]} }

// Decode fills m from a text. Parts that do not fit are left out of m and added to d.Problems.
func (d *Decoder) Decode(n *tree.Node, m proto.Message) {
	d.message(n, fields.In(m.ProtoReflect()), d.Depth)
}

// DecodeAny fills m from the entries next to an "@type" that names m's type.
func (d *Decoder) DecodeAny(n *tree.Node, m proto.Message) {
	in := fields.In(m.ProtoReflect())
	if n.Kind != tree.Map {
		d.message(n, in, d.Depth)
		return
	}
	d.fields(n, in, d.Depth, true)
}

func (d *Decoder) problem(kind ProblemKind, n *tree.Node, format string, args ...any) *Problem {
	d.Problems = append(d.Problems, Problem{Kind: kind, Path: d.path(), Span: n.Span(), Node: n, Message: fmt.Sprintf(format, args...)})
	return &d.Problems[len(d.Problems)-1]
}

// message reads n into m. Depth is the number of maps and lists around n.
func (d *Decoder) message(n *tree.Node, m fields.Message, depth int) {
	if d.Ended != nil && d.Ended() {
		return
	}
	p := planOf(m.Descriptor())
	if p.read != nil {
		p.read(d, n, m, depth)
		return
	}
	if n.Kind != tree.Map {
		d.problem(BadValue, n, "%s where a %s is expected, which is a map of its fields", n.Kind, p.name).In = m.Descriptor()
		return
	}
	d.planned(p, n, m, depth, false)
}

// fields reads the entries of a map into the fields of a message.
func (d *Decoder) fields(n *tree.Node, m fields.Message, depth int, inAny bool) {
	d.planned(planOf(m.Descriptor()), n, m, depth, inAny)
}

func (d *Decoder) planned(p *plan, n *tree.Node, m fields.Message, depth int, inAny bool) {
	if d.tooDeep(n, depth) {
		return
	}
	twice := shadowed(n)
	for i := range n.Keys {
		key, value := &n.Keys[i], &n.Items[i]
		if inAny && key.Name == "@type" {
			continue
		}
		f := p.named(key.Name)
		if f == nil {
			d.unknownField(key, value, m.Descriptor())
			continue
		}
		if twice.at(i) {
			d.enter(f.step)
			d.duplicateKey(key, value, true)
			d.leave()
			if d.Format.lastWins() { // in JSON they are merged
				continue
			}
		}
		if value.Kind == tree.Null && !f.null {
			continue
		}
		if f.oneof && m.Taken(&f.Field) {
			d.oneofTwice(key, value, m.WhichOneof(f.ContainingOneof()), f)
			continue
		}
		d.field(value, m, f, depth+1)
	}
}

func (d *Decoder) tooDeep(n *tree.Node, depth int) bool {
	if depth < tree.MaxDepth {
		return false
	}
	d.problem(TooDeep, n, "values nest more than %d deep", tree.MaxDepth)
	return true
}

// tooDeepField is tooDeep for a list or a map in a field.
func (d *Decoder) tooDeepField(n *tree.Node, f *planned, depth int) bool {
	d.enter(f.step)
	defer d.leave()
	return d.tooDeep(n, depth)
}

// misfit adds the problem of a field that holds something else than it should.
func (d *Decoder) misfit(n *tree.Node, f *planned, want string) {
	d.enter(f.step)
	d.problem(BadValue, n, "%s where %s is expected", n.Kind, want)
	d.leave()
}

func (d *Decoder) oneofTwice(key *tree.Key, value *tree.Node, first protoreflect.FieldDescriptor, f *planned) {
	d.enter(f.step)
	defer d.leave()
	p := d.problem(OneofTwice, value, "only one of %s and %s can be set: both are alternatives of %s", first.Name(), f.Name(), f.ContainingOneof().Name())
	p.Span, p.Name = key.Span(), f.step.Name()
}

// FieldNamed returns a field by its proto or JSON name. Readers accept both.
func FieldNamed(fields protoreflect.FieldDescriptors, key string) protoreflect.FieldDescriptor {
	if fd := fields.ByName(protoreflect.Name(key)); fd != nil {
		return fd
	}
	return fields.ByJSONName(key)
}

func (d *Decoder) unknownField(key *tree.Key, value *tree.Node, md protoreflect.MessageDescriptor) {
	d.enter(tree.ToField(key.Name))
	defer d.leave()
	p := d.problem(UnknownField, value, "%s has no field %q", md.FullName(), key.Name)
	p.Span, p.Name, p.In = key.Span(), key.Name, md
}

// repeats finds the keys of a map that appear in it again, further down.
type repeats struct {
	keys []tree.Key
	last map[string]int // where each key is last; nil for a few keys
}

func shadowed(n *tree.Node) repeats {
	r := repeats{keys: n.Keys}
	if len(n.Keys) > 16 {
		r.last = make(map[string]int, len(n.Keys))
		for i := range n.Keys {
			r.last[n.Keys[i].Name] = i
		}
	}
	return r
}

// at reports whether a key appears again.
func (r repeats) at(i int) bool {
	name := r.keys[i].Name
	if r.last != nil {
		return r.last[name] != i
	}
	return slices.ContainsFunc(r.keys[i+1:], func(k tree.Key) bool { return k.Name == name })
}

func (d *Decoder) duplicateKey(key *tree.Key, value *tree.Node, lenient bool) {
	p := d.problem(DuplicateKey, value, "duplicate key %q", key.Name)
	p.Span, p.Name, p.Lenient = key.Span(), key.Name, lenient
}

func (d *Decoder) field(n *tree.Node, m fields.Message, f *planned, depth int) {
	switch {
	case f.list: // each element has its own place
		d.list(n, m, f, depth)
		return
	case f.mapping:
		d.mapField(n, m, f, depth)
		return
	}
	d.enter(f.step)
	if f.message {
		d.single(n, mutable(m, f), f, depth)
	} else if v, ok := d.scalar(n, f.FieldDescriptor); ok {
		m.Put(&f.Field, v)
	}
	d.leave()
}

func (d *Decoder) single(n *tree.Node, m fields.Message, f *planned, depth int) {
	if f.watched {
		d.Seen = append(d.Seen, Seen{Field: f.FieldDescriptor, Message: m.Message, Path: d.path()})
	}
	d.message(n, m, depth)
}

// list reads the elements of a repeated field. Envoy reads a bare value as a list of one, and a list in a list as its elements.
func (d *Decoder) list(n *tree.Node, m fields.Message, f *planned, depth int) {
	if n.Kind != tree.List && d.Format.ofObject() {
		d.misfit(n, f, "a list")
		return
	}
	if n.Kind != tree.List {
		d.element(n, m, f, depth)
		return
	}
	if d.tooDeepField(n, f, depth) {
		return
	}
	for i := range n.Items {
		if item := &n.Items[i]; item.Kind == tree.List && !f.lists && !d.Format.ofObject() {
			d.list(item, m, f, depth+1)
		} else {
			d.element(item, m, f, depth+1)
		}
	}
}

// element appends to a list. A broken message keeps its place, so that indices in paths stay correct; null is an empty one.
func (d *Decoder) element(n *tree.Node, m fields.Message, f *planned, depth int) {
	d.enter(tree.ToItem(f.step.Name(), m.Len(&f.Field)))
	defer d.leave()
	if f.message {
		inner := appendTo(m, f)
		if n.Kind != tree.Null || f.null {
			d.message(n, inner, depth)
		}
		return
	}
	if n.Kind == tree.Null && !f.null {
		m.Append(&f.Field, m.NewField(f.FieldDescriptor).List().NewElement())
	} else if v, ok := d.scalar(n, f.FieldDescriptor); ok {
		m.Append(&f.Field, v)
	}
}

func (d *Decoder) mapField(n *tree.Node, m fields.Message, f *planned, depth int) {
	if n.Kind != tree.Map {
		d.misfit(n, f, "a map")
		return
	}
	if d.tooDeepField(n, f, depth) {
		return
	}
	twice := shadowed(n)
	for i := range n.Keys {
		key, value := &n.Keys[i], &n.Items[i]
		d.enter(tree.ToEntry(f.step.Name(), key.Name))
		if twice.at(i) {
			d.duplicateKey(key, value, d.Format.lastWins())
		} else {
			d.entry(&tree.Node{Kind: tree.String, Text: key.Name, Start: key.Start, End: key.End}, value, m, f.FieldDescriptor, depth+1)
		}
		d.leave()
	}
}

func (d *Decoder) entry(key, value *tree.Node, m fields.Message, fd protoreflect.FieldDescriptor, depth int) {
	k, ok := d.scalar(key, fd.MapKey())
	if !ok {
		return
	}
	entries := m.Mutable(fd).Map()
	switch holder := fd.MapValue(); {
	case holder.Message() != nil:
		v := newEntry(m, fd)
		if value.Kind != tree.Null || holdsNull(holder) {
			d.message(value, fields.In(v.Message()), depth)
		}
		entries.Set(k.MapKey(), v)
	case value.Kind == tree.Null && !holdsNull(holder):
		entries.Set(k.MapKey(), entries.NewValue())
	default:
		if v, ok := d.scalar(value, holder); ok {
			entries.Set(k.MapKey(), v)
		}
	}
}
