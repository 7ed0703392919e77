package pull

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// refs are what a resource makes Envoy ask for.
type refs map[ref]bool

type ref struct {
	kind   graph.Kind
	name   string // empty: all of the kind
	source graph.Source
}

// opened is an entry with what is in its body, as long as that is needed.
type opened struct {
	*entry
	message  proto.Message // nil: it cannot be read
	contents graph.Contents
}

// open decodes a resource and all Anys in it; nil where it cannot be read.
func (b *books) open(body *anypb.Any) (proto.Message, graph.Contents) {
	mt, err := b.types.FindMessageByName(decode.TypeName(body.GetTypeUrl()))
	if err != nil {
		return nil, nil
	}
	d, m := decode.NewDecoder(b.types), mt.New().Interface()
	if err := d.DecodeBinary(body.GetValue(), m); err != nil {
		return nil, nil
	}
	return m, d.Contents
}

var live = &graph.SourceFile{Name: "live"}

// follow notes what resources refer to, by the graph's own table.
func (b *books) follow(kind graph.Kind, fresh []opened) {
	s, of := &graph.Snapshot{Partial: true}, map[*graph.Resource]*entry{}
	for _, e := range fresh {
		if e.message == nil {
			b.fault("the bytes of %s %q are no %s", kind, e.Name, decode.TypeName(e.Body.GetTypeUrl()))
			continue
		}
		e.refs = refs{}
		r := &graph.Resource{Kind: kind, Name: e.Name, Message: e.message, Contents: e.contents, Source: graph.ADS, File: live}
		of[r] = e.entry
		s.Add(r)
	}
	s.Build()
	for _, edge := range s.Edges {
		if to := (ref{edge.Kind, edge.Target, edge.Source}); byName(to) {
			of[edge.From].refs[to] = true
		}
	}
	for _, sub := range s.Subscriptions {
		if sub.Source == graph.Static {
			continue
		}
		to := ref{sub.Kind, sub.Name, sub.Source}
		if sub.Kind == graph.VirtualHost {
			to.name = "" // VhdsSubscription asks for all at first: NewGrpcMuxImpl::updateWatch
		}
		of[sub.From].refs[to] = true
	}
}

// byName tells whether Envoy asks for the target of a reference under its name.
func byName(to ref) bool {
	switch to.kind {
	case graph.ClusterLoadAssignment, graph.RouteConfiguration, graph.Secret, graph.Runtime, graph.ExtensionConfig:
		return to.source != graph.Static
	}
	return false
}

// here tells whether a reference asks the server that is being asked. A scope does not say who serves its route table: the HTTP
// connection manager does, which is another resource.
func here(to ref) bool {
	return to.source == graph.ADS || to.source == graph.Anywhere
}

// subscribe settles what is asked for by all that there is now.
func (b *books) subscribe() {
	wanted, all := map[graph.Kind]map[string]bool{}, map[graph.Kind]bool{graph.Cluster: true, graph.Listener: true}
	b.far = map[Elsewhere]bool{}
	for _, p := range b.kinds {
		for _, e := range p.entries {
			for to := range e.refs {
				switch {
				case !here(to):
					b.far[Elsewhere{to.kind, to.name, to.source}] = true
				case to.name == "":
					all[to.kind] = all[to.kind] || b.speaks(to.kind)
				case b.speaks(to.kind):
					if wanted[to.kind] == nil {
						wanted[to.kind] = map[string]bool{}
					}
					wanted[to.kind][to.name] = true
				}
			}
		}
	}
	for kind := range wanted {
		b.page(kind)
	}
	for kind := range all {
		b.page(kind)
	}
	for kind, p := range b.kinds {
		for name := range wanted[kind] {
			if !p.wanted[name] {
				p.answered = p.answered && !isCollection(kind, name)
			}
		}
		p.wanted = wanted[kind]
		p.all = all[kind]
	}
}

// speaks tells whether the transport has the kind: VHDS and LEDS are Delta's.
func (b *books) speaks(kind graph.Kind) bool {
	if kind != graph.VirtualHost && kind != graph.LbEndpoint || b.delta {
		return true
	}
	b.fault("%s comes over Delta alone (--transport delta)", kind)
	return false
}
