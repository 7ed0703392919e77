package reference_test

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// others are flaws that break a clause in another way than mutants, or for another type.
var others = []mutant{
	{"virtual-host-removed", delta, each(removing)},
	{"virtual-host-misnamed", delta, each(misnaming)},
	{"subscription-unanswered", delta, each(unaliased)},
	{"wildcard-unanswered", nil, each(unheard(reference.Scopes, nil))},
	{"subscription-unanswered", delta, each(unheard(reference.Clusters, []string{tenant + "*"}))},
	{"resource-unrequested", delta, each(misplacing)},
	{"removed-unknown", delta, each(once(reference.Routes, 1, func(p proto.Message) []proto.Message {
		d := p.(*discoveryv3.DeltaDiscoveryResponse)
		d.RemovedResources = append(d.RemovedResources, "unknown")
		return one(p)
	}))},
	{"removal-not-sent", delta, each(unforgotten)},
	{"resent-unchanged", delta, each(everything)},
	{"update-not-sent", nil, deafened},
	{"warming-without-endpoints", func(v variant) bool { return v.delta && v.aggregated }, each(unprompted)},
	{"nonce-reused", nil, each(sameNonce)},
	{"stale-request-answered", sotw, each(answersStale)},
	{"heartbeat-version", nil, each(beats)},
	{"version-unchanged", sotw, each(edit(func(p proto.Message) []proto.Message {
		if get(p, "type_url") == reference.Endpoints {
			set(p, "version_info", "frozen")
		}
		return one(p)
	}))},
	{"resource-version-unchanged", delta, each(edit(func(p proto.Message) []proto.Message {
		for _, r := range p.(*discoveryv3.DeltaDiscoveryResponse).GetResources() {
			if get(p, "type_url") == reference.Routes {
				r.Version = "frozen"
			}
		}
		return one(p)
	}))},
	{"duplicate-name", nil, each(once(reference.Clusters, 2, twice))},
	{"resent-unchanged", nil, each(func(s reference.Session) reference.Session { return chattering(s, "") })},
	{"new-version-same-content", nil, each(func(s reference.Session) reference.Session { return chattering(s, "+") })},
	{"unsubscribed-sent", sotw, each(remembering)},
	{"state-partial", sotw, onlyChanged},
	{"removal-not-sent", sotw, clusters(func() func(in []*clusterv3.Cluster) []*clusterv3.Cluster {
		var stock *clusterv3.Cluster
		return func(in []*clusterv3.Cluster) []*clusterv3.Cluster {
			if c := named(in, "stock"); c != nil {
				stock = c
			} else if stock != nil {
				in = append(in, stock)
			}
			return in
		}
	})},
	{"update-not-sent", sotw, clusters(func() func(in []*clusterv3.Cluster) []*clusterv3.Cluster {
		var first *clusterv3.Cluster
		return func(in []*clusterv3.Cluster) []*clusterv3.Cluster {
			for i, c := range in {
				if c.GetName() != "cart" {
					continue
				}
				if first == nil {
					first = c
				}
				in[i] = first
			}
			return in
		}
	})},
	// Over an aggregated stream, the endpoints of the cluster are sent again.
	{"update-not-sent", func(v variant) bool { return v.delta && !v.aggregated }, lossy(reference.Clusters, func(p proto.Message) proto.Message {
		return reduced(p, func(body *anypb.Any) bool {
			var c clusterv3.Cluster
			return body.UnmarshalTo(&c) == nil && c.GetName() == "cart" && c.GetConnectTimeout().GetSeconds() > 1
		})
	})},
	{"creation-not-sent", sotw, clusters(func() func(in []*clusterv3.Cluster) []*clusterv3.Cluster {
		return func(in []*clusterv3.Cluster) (out []*clusterv3.Cluster) {
			for _, c := range in {
				if c.GetName() != "gifts" {
					out = append(out, c)
				}
			}
			return out
		}
	})},
	{"creation-not-sent", delta, lossy(reference.Clusters, func(p proto.Message) proto.Message {
		return reduced(p, func(body *anypb.Any) bool {
			var c clusterv3.Cluster
			return body.UnmarshalTo(&c) == nil && c.GetName() == "gifts"
		})
	})},
}

// twice repeats a resource.
func twice(p proto.Message) []proto.Message {
	switch p := p.(type) {
	case *discoveryv3.DiscoveryResponse:
		p.Resources = append(p.Resources, p.Resources[0])
	case *discoveryv3.DeltaDiscoveryResponse:
		p.Resources = append(p.Resources, p.Resources[0])
	}
	return one(p)
}

// removedToo removes what it sends.
func removedToo(p proto.Message) []proto.Message {
	d := p.(*discoveryv3.DeltaDiscoveryResponse)
	d.RemovedResources = append(d.RemovedResources, d.Resources[0].Name)
	return one(p)
}

func named(in []*clusterv3.Cluster, name string) *clusterv3.Cluster {
	for _, c := range in {
		if c.GetName() == name {
			return c
		}
	}
	return nil
}

// remembering does not forget the endpoints that a client of SotW has asked for.
func remembering(s reference.Session) reference.Session {
	var all []string
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		if get(q, "type_url") != reference.Endpoints {
			return next.Request(q)
		}
		d := clone(q.(*discoveryv3.DiscoveryRequest))
		for _, name := range d.GetResourceNames() {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
		d.ResourceNames = slices.Clone(all)
		return next.Request(d)
	}}
}

// onlyChanged sends the first client whose clusters change only those that have.
func onlyChanged() func(reference.Session) reference.Session {
	done := false
	return func(s reference.Session) reference.Session {
		sent := map[string]*clusterv3.Cluster{}
		return edit(func(p proto.Message) []proto.Message {
			if get(p, "type_url") != reference.Clusters {
				return one(p)
			}
			var changed []*clusterv3.Cluster
			all := unpacked(p)
			for _, c := range all {
				if before := sent[c.GetName()]; before != nil && !proto.Equal(before, c) {
					changed = append(changed, c)
				}
				sent[c.GetName()] = c
			}
			if !done && len(changed) > 0 && len(changed) < len(all) {
				done = true
				pack(p, changed)
			}
			return one(p)
		})(s)
	}
}

// clusters is a flaw that gives the first client that asks for clusters other ones. A response that is the last one then is withheld.
func clusters(create func() func([]*clusterv3.Cluster) []*clusterv3.Cluster) func() func(reference.Session) reference.Session {
	return func() func(reference.Session) reference.Session {
		f := create()
		var before []*clusterv3.Cluster
		return lossy(reference.Clusters, func(p proto.Message) proto.Message {
			now := f(unpacked(p))
			if slices.EqualFunc(before, now, func(a, b *clusterv3.Cluster) bool { return proto.Equal(a, b) }) {
				return nil
			}
			before = slices.Clone(now)
			pack(p, now)
			return p
		})()
	}
}

// unpacked returns the clusters of a response of SotW.
func unpacked(p proto.Message) (all []*clusterv3.Cluster) {
	for _, body := range p.(*discoveryv3.DiscoveryResponse).GetResources() {
		c := &clusterv3.Cluster{}
		if body.UnmarshalTo(c) == nil {
			all = append(all, c)
		}
	}
	return all
}

// pack replaces them.
func pack(p proto.Message, all []*clusterv3.Cluster) {
	d := p.(*discoveryv3.DiscoveryResponse)
	d.Resources = nil
	for _, c := range all {
		body, _ := anypb.New(c) // a message can be packed
		d.Resources = append(d.Resources, body)
	}
}

// unheard does not answer a first request for some names of a type.
func unheard(typeURL string, of []string) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
			if get(q, "type_url") == typeURL && slices.Equal(names(q), of) {
				return nil
			}
			return next.Request(q)
		}}
	}
}

// misplacing adds a resource to a collection that is not below it.
func misplacing(s reference.Session) reference.Session {
	return edit(func(p proto.Message) []proto.Message {
		d := p.(*discoveryv3.DeltaDiscoveryResponse)
		if len(d.GetResources()) == 1 && d.GetResources()[0].GetName() == tenant+"a" {
			other := clone(d.GetResources()[0])
			other.Name = tenant + "deep/a"
			d.Resources = append(d.Resources, other)
		}
		return one(p)
	})(s)
}

// unforgotten does not remove what a client has from an earlier stream.
func unforgotten(s reference.Session) reference.Session {
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
		if d.GetNode().GetId() == returning {
			delete(d.InitialResourceVersions, "gifts")
		}
		return next.Request(d)
	}}
}

// everything sends a cluster once more with each other one that changes.
func everything(s reference.Session) reference.Session {
	sent := map[string]*discoveryv3.Resource{}
	return edit(func(p proto.Message) []proto.Message {
		d := p.(*discoveryv3.DeltaDiscoveryResponse)
		if d.GetTypeUrl() != reference.Clusters || len(d.GetResources()) == 0 {
			return one(p)
		}
		for _, r := range d.GetResources() {
			delete(sent, r.GetName())
		}
		if old := sent["books"]; old != nil {
			d.Resources = append(d.Resources, old)
		}
		for _, r := range d.GetResources() {
			sent[r.GetName()] = r
		}
		return one(p)
	})(s)
}

// deafened does not send the first client what changes after it has rejected something: endpoints of the cluster.
func deafened() func(reference.Session) reference.Session {
	rejected := false
	lose := lossy(reference.Endpoints, onlyOnce(func(p proto.Message) proto.Message {
		if !rejected {
			return p
		}
		return without("shop", 8082)(p)
	}))()
	return func(s reference.Session) reference.Session {
		s = lose(s)
		return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
			rejected = rejected || rejects(q)
			return next.Request(q)
		}}
	}
}
