package pull

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// refs are the references for which Envoy requests other resources.
type refs map[ref]bool

type ref struct {
	kind   graph.Kind
	name   string // empty: all of the kind
	source graph.Source
}

// opened is a resource with its decoded body, while that is needed.
type opened struct {
	*resource
	message  proto.Message // nil: it cannot be decoded
	contents graph.Contents
}

// open decodes a resource and all Anys in it. The message is nil if that fails.
func (s *subscriptions) open(body *anypb.Any) (proto.Message, graph.Contents) {
	mt, err := s.types.FindMessageByName(decode.TypeName(body.GetTypeUrl()))
	if err != nil {
		return nil, nil
	}
	d, m := decode.NewDecoder(s.types), mt.New().Interface()
	if err := d.DecodeBinary(body.GetValue(), m); err != nil {
		return nil, nil
	}
	return m, d.Contents
}

var live = &graph.SourceFile{Name: "live"}

// follow records what resources refer to, as the graph finds it.
func (s *subscriptions) follow(kind graph.Kind, fresh []opened) {
	snapshot, of := &graph.Snapshot{NoBootstrap: true}, map[*graph.Resource]*resource{}
	for _, e := range fresh {
		if e.message == nil {
			s.fault("the bytes of %s %q are not a valid %s", kind, e.Name, decode.TypeName(e.Body.GetTypeUrl()))
			continue
		}
		e.refs = refs{}
		r := &graph.Resource{Kind: kind, Name: e.Name, Message: e.message, Contents: e.contents, Source: graph.ADS, File: live}
		of[r] = e.resource
		snapshot.Add(r)
	}
	snapshot.Build()
	for _, edge := range snapshot.References() {
		if to := (ref{edge.Kind, edge.Target, edge.Source}); byName(to) {
			of[edge.From].refs[to] = true
		}
	}
	for _, sub := range snapshot.Subscriptions {
		if sub.Source == graph.Static {
			continue
		}
		to := ref{sub.Kind, sub.Name, sub.Source}
		if sub.Kind == graph.VirtualHost {
			to.name = "" // VhdsSubscription requests all at first: NewGrpcMuxImpl::updateWatch
		}
		of[sub.From].refs[to] = true
	}
}

// byName reports whether Envoy requests the target of a reference by name.
func byName(to ref) bool {
	switch to.kind {
	case graph.ClusterLoadAssignment, graph.RouteConfiguration, graph.Secret, graph.Runtime, graph.ExtensionConfig:
		return to.source != graph.Static
	}
	return false
}

// servedHere reports whether the target of a reference comes from this server. A scope does not say which server has its route configuration:
// the HTTP connection manager does, which is part of another resource. A server with separate streams is named by a cluster of the Envoy, which
// is not known here.
func (s *subscriptions) servedHere(to ref) bool {
	return to.source == graph.ADS || to.source == graph.Anywhere || s.separate && strings.HasPrefix(string(to.source), "api:")
}

// subscribe determines what to request by what was received so far.
func (s *subscriptions) subscribe() {
	wanted, all := map[graph.Kind]map[string]bool{}, map[graph.Kind]bool{graph.Cluster: !s.unserved[graph.Cluster], graph.Listener: !s.unserved[graph.Listener]}
	s.elsewhere = map[Elsewhere]bool{}
	for _, p := range s.kinds {
		for _, e := range p.resources {
			for to := range e.refs {
				switch {
				case !s.servedHere(to):
					s.elsewhere[Elsewhere{to.kind, to.name, to.source}] = true
				case to.name == "":
					all[to.kind] = all[to.kind] || s.supports(to.kind)
				case s.supports(to.kind):
					if wanted[to.kind] == nil {
						wanted[to.kind] = map[string]bool{}
					}
					wanted[to.kind][to.name] = true
				}
			}
		}
	}
	for kind := range wanted {
		s.state(kind)
	}
	for kind := range all {
		s.state(kind)
	}
	for kind, p := range s.kinds {
		for name := range wanted[kind] {
			if !p.wanted[name] {
				p.answered = p.answered && !isCollection(kind, name)
			}
		}
		p.wanted = wanted[kind]
		p.all = all[kind]
	}
}

// supports reports whether the server and the transport have the kind: only Delta has VHDS and LEDS.
func (s *subscriptions) supports(kind graph.Kind) bool {
	if s.unserved[kind] {
		return false
	}
	if kind != graph.VirtualHost && kind != graph.LbEndpoint || s.delta {
		return true
	}
	s.fault("%s is only available over Delta (--transport delta)", kind)
	return false
}
