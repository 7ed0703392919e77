package pull

import (
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// sotw are streams with the state of the world: a request lists all names, and a response with clusters or listeners contains all of them.
type sotw struct {
	*streams
	node *corev3.Node
	told map[graph.Kind]*told
}

// told is what this stream has sent to the server.
type told struct {
	names []string
	nonce string // of the last response
	acked bool   // whether that response was ACKed
}

func (s *sotw) ask() error {
	for _, kind := range s.asking() {
		p, known := s.kinds[kind], s.told[kind]
		names := p.wants()
		switch {
		case known == nil && !p.all && len(names) == 0: // no longer wanted, and never requested on this stream
			continue
		case known == nil:
			known = &told{}
			s.told[kind] = known
		case known.acked && slices.Equal(known.names, names):
			continue
		}
		known.names, known.acked = names, true
		request := &discoveryv3.DiscoveryRequest{
			Node: s.node, TypeUrl: graph.TypeURL(kind), ResourceNames: names, VersionInfo: p.version, ResponseNonce: known.nonce,
		}
		if err := s.send(kind, request); err != nil {
			return err
		}
	}
	return nil
}

func stateOfTheWorld(r *discoveryv3.DiscoveryResponse) response {
	got := response{url: r.GetTypeUrl(), version: r.GetVersionInfo(), whole: true, errors: r.GetResourceErrors()}
	for _, body := range r.GetResources() {
		got.items = append(got.items, item{body: body})
	}
	return got
}

func (s *sotw) took(m message) {
	if known := s.told[graph.KindOf(decode.TypeName(m.url))]; known != nil {
		known.nonce, known.acked = m.nonce, false
	}
}
