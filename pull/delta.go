package pull

import (
	"maps"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// delta are streams on which requests and responses contain only changes.
type delta struct {
	*streams
	node *corev3.Node
	told map[graph.Kind]*subscribed
}

// subscribed is what was requested on this stream.
type subscribed struct {
	names  map[string]bool
	nonces []string // of responses that were not ACKed yet
}

func (d *delta) ask() error {
	for _, kind := range d.asking() {
		if err := d.askFor(kind); err != nil {
			return err
		}
	}
	return nil
}

func (d *delta) askFor(kind graph.Kind) error {
	p, known := d.kinds[kind], d.told[kind]
	request := &discoveryv3.DeltaDiscoveryRequest{Node: d.node, TypeUrl: graph.TypeURL(kind)}
	first := known == nil
	if first {
		if !p.all && len(p.wanted) == 0 {
			return nil
		}
		known = &subscribed{names: map[string]bool{}}
		d.told[kind] = known
		request.InitialResourceVersions = p.versions(kind)
	}
	request.ResourceNamesSubscribe = without(p.wanted, known.names)
	request.ResourceNamesUnsubscribe = without(known.names, p.wanted)
	changed := first || len(request.ResourceNamesSubscribe)+len(request.ResourceNamesUnsubscribe) > 0
	known.names = maps.Clone(p.wanted)
	for _, nonce := range known.nonces {
		request.ResponseNonce = nonce
		if err := d.send(kind, request); err != nil {
			return err
		}
		request = &discoveryv3.DeltaDiscoveryRequest{Node: d.node, TypeUrl: request.TypeUrl}
		changed = false
	}
	known.nonces = nil
	if !changed {
		return nil
	}
	return d.send(kind, request)
}

// versions are the versions of earlier streams' resources, which a new stream sends.
func (p *typeState) versions(kind graph.Kind) map[string]string {
	versions := map[string]string{}
	for name, e := range p.resources {
		if p.keeps(kind, name) {
			versions[name] = e.version
		}
	}
	return versions
}

// without lists the names of a that are not in b.
func without(a, b map[string]bool) []string {
	var names []string
	for name := range a {
		if !b[name] {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func changes(r *discoveryv3.DeltaDiscoveryResponse) response {
	got := response{
		url: r.GetTypeUrl(), version: r.GetSystemVersionInfo(), removed: r.GetRemovedResources(), errors: r.GetResourceErrors(),
	}
	for _, one := range r.GetResources() {
		got.items = append(got.items, wrapped(one))
	}
	return got
}

func (d *delta) took(m message) {
	if known := d.told[graph.KindOf(decode.TypeName(m.url))]; known != nil {
		known.nonces = append(known.nonces, m.nonce)
	}
}
