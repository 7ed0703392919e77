package load

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/tree"
)

const bootstrapName protoreflect.FullName = "envoy.config.bootstrap.v3.Bootstrap"

type static struct {
	field string
	name  protoreflect.FullName
}

// statics are the lists of static resources in a bootstrap.
var statics = []static{
	{"listeners", "envoy.config.listener.v3.Listener"},
	{"clusters", "envoy.config.cluster.v3.Cluster"},
	{"secrets", "envoy.extensions.transport_sockets.tls.v3.Secret"},
}

// bootstrap adds a bootstrap, and its static resources as separate resources. Each is decoded alone: so its problems
// have paths that begin in it, and thousands can be decoded in parallel.
func (a *assembly) bootstrap(in *input) *part {
	if in.binary != nil {
		return a.binaryBootstrap(in)
	}
	from := origin{in: in, source: graph.Static, delivery: graph.FromBootstrap}
	root := in.docs[in.main]
	rest, static := split(root)
	whole := a.plain(from, rest, bootstrapName)
	whole.resource.Text = in.textOf(root)
	from.depth = 3
	for i, s := range statics {
		for _, n := range static[i] {
			if a.ctx.Err() != nil {
				return whole
			}
			whole.static = append(whole.static, a.plain(from, n, s.name))
		}
	}
	a.reuse(in, whole.static)
	return whole
}

// binaryBootstrap takes the static resources out of the message itself.
func (a *assembly) binaryBootstrap(in *input) *part {
	from := origin{in: in, source: graph.Static, delivery: graph.FromBootstrap}
	whole := &part{in: in, resource: from.resource(graph.Bootstrap)}
	rest, texts := whole.outlined(in.outline)
	a.parts = append(a.parts, whole)
	b, static := in.binary.bootstrap, &bootstrapv3.Bootstrap_StaticResources{}
	if b.GetStaticResources() != nil {
		b.StaticResources, static = static, b.StaticResources
	}
	a.opened(whole, b, rest)
	b.StaticResources = static
	add := func(s, i int, m proto.Message) {
		p := a.plain(from, nil, statics[s].name)
		var outline *graph.TextNode
		if texts != nil && i < len(texts[s]) {
			outline = texts[s][i]
		}
		p.resource.Text = tree.TextOf(outline)
		a.opened(p, m, outline)
	}
	for i, m := range static.GetListeners() {
		add(0, i, m)
	}
	for i, m := range static.GetClusters() {
		add(1, i, m)
	}
	for i, m := range static.GetSecrets() {
		add(2, i, m)
	}
	return whole
}

// outlined returns the outline of a bootstrap in proto text, and those of its static resources.
func (p *part) outlined(outline *graph.TextNode) (rest *graph.TextNode, static [][]*graph.TextNode) {
	if outline == nil {
		return nil, nil
	}
	p.resource.Text = tree.TextOf(outline)
	return split(outline)
}

// opened makes a part of a decoded message. For proto text, the node is its outline.
func (a *assembly) opened(p *part, m proto.Message, outline *graph.TextNode) {
	d := decode.NewDecoder(a.types)
	d.Open(m)
	if outline != nil {
		d.CheckNames(outline, m.ProtoReflect().Descriptor())
	}
	r := p.resource
	p.message, p.seen = nil, d.Seen
	r.Message, r.Contents, r.Problems, r.Name = m, d.Contents, d.Problems, graph.NameOf(m.ProtoReflect())
	locate(r)
}

// split takes the static resources out of a bootstrap: a copy without them, and each list of statics.
func split(root *graph.TextNode) (rest *graph.TextNode, static [][]*graph.TextNode) {
	static = make([][]*graph.TextNode, len(statics))
	at := root.Field("static_resources")
	if at == nil || at.Kind != tree.Map {
		return root, static
	}
	inner := *at
	for i, s := range statics {
		switch list := inner.Field(s.field); {
		case list == nil:
			continue
		case list.Kind == tree.Map: // Envoy reads it as a list of one
			static[i] = []*graph.TextNode{list}
		case list.Kind == tree.List:
			for j := range list.Items {
				static[i] = append(static[i], &list.Items[j])
			}
		default:
			continue
		}
		inner = inner.With(s.field, graph.TextNode{Kind: tree.List})
	}
	copied := root.With("static_resources", inner)
	return &copied, static
}

// merge puts the static resources back into the bootstrap's message, where its rules look for them, and merges --config-yaml over it.
func (p *part) merge(types graph.Types) {
	b, ok := p.resource.Message.(*bootstrapv3.Bootstrap)
	if !ok {
		return
	}
	if p.over != nil {
		p.mergeOver(b, types)
	}
	if len(p.static) == 0 {
		return
	}
	if b.StaticResources == nil {
		b.StaticResources = &bootstrapv3.Bootstrap_StaticResources{}
	}
	for _, s := range p.static {
		switch m := s.resource.Message.(type) {
		case *listenerv3.Listener:
			b.StaticResources.Listeners = append(b.StaticResources.Listeners, m)
		case *clusterv3.Cluster:
			b.StaticResources.Clusters = append(b.StaticResources.Clusters, m)
		case *tlsv3.Secret:
			b.StaticResources.Secrets = append(b.StaticResources.Secrets, m)
		}
	}
}

// mergeOver merges as Envoy does: it joins lists and replaces scalars. It copies the Anys.
func (p *part) mergeOver(b *bootstrapv3.Bootstrap, types graph.Types) {
	proto.Merge(b, p.over.resource.Message)
	d := decode.NewDecoder(types)
	d.Open(b)
	p.resource.Contents, p.seen, p.resource.Name = d.Contents, d.Seen, graph.NameOf(b.ProtoReflect())
}

// overlay adds the static resources of a --config-yaml, which Envoy merges over a bootstrap, and its problems as those of a file.
func (a *assembly) overlay(whole *part, in *input) {
	a.broken(in, graph.Static)
	if in.as != bootstrap {
		return
	}
	first := len(a.parts)
	over := a.bootstrap(in)
	a.parts = append(a.parts[:first], a.parts[first+1:]...)
	over.decode(a.newReader())
	a.problems(origin{in: in, source: graph.Static, delivery: graph.FromBootstrap}, over.resource.Problems)
	whole.over, whole.static = over, append(whole.static, over.static...)
}
