package load

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/internal/tree"
)

// assembly builds a snapshot. It first collects its parts and then decodes them in parallel.
type assembly struct {
	*loader
	snapshot *graph.Snapshot
	parts    []*part
}

func (l *loader) assemble(name string) *assembly {
	return &assembly{loader: l, snapshot: &graph.Snapshot{Name: name, Assumptions: l.opts.Assumptions}}
}

// part is one resource, to be decoded.
type part struct {
	resource *graph.Resource
	in       *input
	message  protoreflect.MessageType // nil: nothing to decode
	node     *graph.TextNode          // for a text
	raw      []byte                   // for a binary file
	format   decode.Format            // of node; selects its reader
	depth    int                      // number of maps and lists around node
	alias    string                   // the name in a wrapper, for resources that have no name
	static   []*part                  // of a bootstrap
	over     *part                    // of a bootstrap: what --config-yaml merges over it
	overlay  bool                     // of a delta response
	removes  bool                     // a delta response removes the resource of this name
	seen     []decode.Seen
	notPlain bool  // its text must be read with the rest of the file
	item     *item // of a static resource, for the next load; nil: it is not kept
	apart    bool  // its values must not keep the text of the file in memory
}

// origin is where parts come from.
type origin struct {
	in       *input
	source   graph.Source
	delivery graph.Delivery
	state    graph.State
	version  string // of the response around the parts
	depth    int
}

func (from origin) resource(kind graph.Kind) *graph.Resource {
	return &graph.Resource{Kind: kind, Source: from.source, Delivery: from.delivery, State: from.state, Version: from.version, File: from.in.file, Object: from.in.object, Within: from.in.within}
}

// plain adds a resource whose type is known from its place.
func (a *assembly) plain(from origin, n *graph.TextNode, name protoreflect.FullName) *part {
	p := &part{in: from.in, node: n, format: from.in.format.decoder(), depth: from.depth, resource: from.resource(graph.KindOf(name))}
	p.resource.Text = tree.TextOf(n)
	p.message, _ = a.types.FindMessageByName(name)
	a.parts = append(a.parts, p)
	return p
}

// any adds the resource in a map with an "@type", or in a wrapper with one.
func (a *assembly) any(from origin, n *graph.TextNode) {
	url := n.Get("@type")
	if kind := looksLike(n); url == nil && n.Kind == tree.Map && kind != "" {
		a.misfit(from, graph.Problem{Kind: graph.Syntax, Span: firstKey(n), Node: n, Name: string(kind), Message: untypedResource(kind)})
		return
	}
	if n.Kind != tree.Map || url == nil || url.Kind != tree.String || url.Text == "" {
		a.misfit(from, graph.Problem{Kind: graph.BadAny, Span: n.Span(), Node: n, Message: `there is no "@type" here, so the type of this message is not known`})
		return
	}
	if decode.TypeName(url.Text) == discoveryPackage+"Resource" {
		a.wrapped(from, n)
		return
	}
	if name := a.kind(from, url); name != "" {
		a.plain(from, n, name)
	}
}

// kind returns the kind of resource for a type URL. A type that is not a resource becomes a problem.
func (a *assembly) kind(from origin, url *graph.TextNode) protoreflect.FullName {
	d := decode.NewDecoder(a.types)
	mt := d.Find(url)
	if mt == nil {
		a.misfit(from, d.Problems[0])
		return ""
	}
	name := mt.Descriptor().FullName()
	if graph.KindOf(name) == "" {
		a.misfit(from, graph.Problem{Kind: graph.BadValue, Span: url.Span(), Node: url, Name: url.Text, Message: fmt.Sprintf("%s is not a resource of xDS", name)})
		return ""
	}
	return name
}

// wrapped adds the content of an envoy.service.discovery.v3.Resource. Without a body it is a heartbeat, or means that
// there is no such resource.
func (a *assembly) wrapped(from origin, n *graph.TextNode) {
	before := len(a.parts)
	if body := n.Field("resource"); body != nil && body.Kind != tree.Null {
		inner := from
		inner.depth++
		a.any(inner, body)
	}
	rest, after := n.With("resource", graph.TextNode{}), len(a.parts)
	wrapper := a.check(from, &rest, "Resource")
	if after > before {
		a.parts[before].wrap(wrapper)
	}
}

// wrap records the version, TTL and name in an envoy.service.discovery.v3.Resource.
func (p *part) wrap(wrapper protoreflect.Message) {
	if wrapper == nil {
		return
	}
	fields := wrapper.Descriptor().Fields()
	p.alias = wrapper.Get(fields.ByName("name")).String()
	if version := wrapper.Get(fields.ByName("version")).String(); version != "" {
		p.resource.Version = version
	}
	if ttl, ok := wrapper.Get(fields.ByName("ttl")).Message().Interface().(*durationpb.Duration); ok {
		p.resource.TTL = ttl.AsDuration()
	}
}

// packedAny adds a resource of a binary file.
func (a *assembly) packedAny(from origin, p packed) *part {
	if p.version != "" {
		from.version = p.version
	}
	url := &graph.TextNode{Kind: tree.String, Text: p.url}
	if p.text != nil && p.text.Get("@type") != nil {
		url = p.text.Get("@type")
	}
	name := a.kind(from, url)
	if name == "" {
		return a.parts[len(a.parts)-1]
	}
	added := a.plain(from, nil, name)
	added.raw, added.alias, added.resource.TTL, added.resource.Text = p.value, p.alias, p.ttl, tree.TextOf(p.text)
	return added
}

// misfit adds a Problem that does not belong to a resource.
func (a *assembly) misfit(from origin, problem graph.Problem) {
	a.problems(from, []graph.Problem{problem})
}

// broken adds the problems of a file as a whole.
func (a *assembly) broken(in *input, from graph.Source) {
	a.problems(origin{in: in, source: from}, in.problems)
}

// problems adds Problems of a file, as a resource of kind File.
func (a *assembly) problems(from origin, problems []graph.Problem) {
	if len(problems) == 0 {
		return
	}
	r := from.resource(graph.File)
	r.Name, r.Problems = from.in.file.Name, problems
	a.parts = append(a.parts, &part{in: from.in, resource: r})
}

// decode decodes the parts from the given index on. The error is that of the context, or errNotPlain.
func (a *assembly) decode(first int) error {
	parts := a.parts[first:]
	parallel.Each(a.ctx, len(parts), func() func(int) {
		r := a.newReader()
		return func(i int) { parts[i].decode(r) }
	})
	for _, p := range parts {
		if p.notPlain {
			return errNotPlain
		}
		p.merge(a.types)
	}
	return a.ctx.Err()
}

// finish adds the resources to the snapshot.
func (a *assembly) finish() *graph.Snapshot {
	for _, p := range settle(a.parts) {
		a.snapshot.Add(p.resource)
	}
	return a.snapshot
}

// locate finds the places of problems for messages that have a text but were not decoded from it.
func locate(r *graph.Resource) {
	for i := range r.Problems {
		if p := &r.Problems[i]; p.Span.IsZero() {
			p.Span = r.Locate(p.Path).Value
		}
	}
}

func (p *part) decode(by *reader) {
	if p.message == nil || !by.read(p) {
		return
	}
	defer by.done(p)
	d := by.decoder
	d.Reset()
	d.Format, d.Depth = p.format, p.depth
	r, m := p.resource, p.message.New().Interface()
	switch {
	case p.node != nil && (r.Kind == graph.Patch || r.Kind == graph.GRPCBootstrap || p.in.as == bootstrap && r.Delivery == graph.FromBootstrap): // "@type" is not a field there
		d.Decode(p.node, m)
	case p.node != nil:
		d.DecodeAny(p.node, m)
	default:
		err := d.DecodeBinary(p.raw, m)
		if p.raw = nil; err != nil {
			r.Problems = append(r.Problems, graph.Problem{Kind: graph.BadAny, Message: fmt.Sprintf("the bytes are not a %s", m.ProtoReflect().Descriptor().FullName())})
		}
		if r.Text != nil {
			d.CheckNames(r.Text.Root(), m.ProtoReflect().Descriptor())
		}
	}
	r.Message, r.Contents, r.Problems, p.seen = m, d.Contents, append(r.Problems, d.Problems...), d.Seen
	locate(r)
	if r.Kind == graph.Patch {
		return // the problem has the object's name
	}
	if r.Name = graph.NameOf(m.ProtoReflect()); r.Name == "" {
		r.Name = p.alias
	}
}
