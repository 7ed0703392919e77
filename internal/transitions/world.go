package transitions

import (
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// half is a snapshot that has been moved.
type half struct {
	messages  []proto.Message // what listeners ask
	pushed    *cachev3.Snapshot
	bootstrap *bootstrapv3.Bootstrap // nil: it has none of its own
}

// halves moves both snapshots of a case. Certificates and upstreams are prepared for both first. Only what the new snapshot adds is slow.
func (p *place) halves(c *Case, versions lint.VersionPolicy) (before, after *half, err error) {
	p.filler = c.Filler
	for _, s := range []*graph.Snapshot{c.Old, c.New} {
		p.listenIn(s)
		for _, r := range s.Resources {
			p.authority.expect(r.Message)
		}
	}
	if before, err = p.half(c.Old, "old"); err != nil {
		return nil, nil, err
	}
	p.slow = c.SlowHealthCheck
	if after, err = p.half(c.New, "new"); err != nil {
		return nil, nil, err
	}
	if versions != lint.Global {
		for t := range after.pushed.Resources {
			was, is := &before.pushed.Resources[t], &after.pushed.Resources[t]
			if is.Version == "new" && sameResources(was.Items, is.Items) {
				is.Version = was.Version
			}
		}
	}
	return before, after, nil
}

// half moves a snapshot. The version of a type is that of its resources, or else the given one.
func (p *place) half(s *graph.Snapshot, version string) (*half, error) {
	h := &half{}
	resources := map[string][]types.ResourceWithTTL{}
	versions := map[string]string{}
	for _, r := range s.Resources {
		m, err := p.move(r.Message)
		if err != nil {
			return nil, err
		}
		h.messages = append(h.messages, m)
		if r.Kind == graph.Bootstrap {
			h.bootstrap = m.(*bootstrapv3.Bootstrap)
		}
		if r.Delivery != graph.OverXDS || r.Kind == graph.Bootstrap {
			continue
		}
		url := typeURL(m)
		item := types.ResourceWithTTL{Resource: m}
		if r.TTL > 0 {
			item.TTL = &r.TTL
		}
		resources[url] = append(resources[url], item)
		if r.Version != "" {
			versions[url] = r.Version
		}
	}
	var err error
	if h.pushed, err = cachev3.NewSnapshotWithTTLs(version, resources); err != nil {
		return nil, err
	}
	for url, v := range versions {
		h.pushed.Resources[cachev3.GetResponseType(url)].Version = v
	}
	return h, nil
}

func typeURL(m proto.Message) string {
	return "type.googleapis.com/" + string(m.ProtoReflect().Descriptor().FullName())
}

func sameResources(a, b map[string]types.ResourceWithTTL) bool {
	if len(a) != len(b) {
		return false
	}
	for name, r := range a {
		other, ok := b[name]
		if !ok || !proto.Equal(r.Resource, other.Resource) {
			return false
		}
	}
	return true
}

// shortType returns the last word of a type URL.
func shortType(url string) string { return url[strings.LastIndexByte(url, '.')+1:] }
