package admission

import (
	"fmt"
	"slices"
	"sync"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"google.golang.org/protobuf/proto"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
)

// close withholds the blamed changes and everything that depends on them. A resource that refers to one that is left out stays as it was.
// Whatever a kept resource refers to is kept too, with its endpoints. A listener is kept if the one that was to take its address is left out.
func (q *quarantine) close() {
	q.kept = map[key]string{}
	var next []key
	keep := func(k key, why string) {
		if _, known := q.kept[k]; !known {
			q.kept[k] = why
			next = append(next, k)
		}
	}
	for _, k := range q.order {
		if b, ok := q.blamed[k]; ok {
			keep(k, b.why)
		}
	}
	for len(next) > 0 {
		k := next[0]
		next = next[1:]
		if was := q.base.at(k); was == nil {
			q.eachUser(k, keep)
		} else {
			q.eachNeed(k, was, keep)
		}
		q.eachForerunner(k, keep)
	}
	q.eachEmptied(keep) // endpoints need nothing themselves
}

// eachUser keeps the changed resources that refer to one that is left out. Unchanged resources have always referred to it without effect.
func (q *quarantine) eachUser(k key, keep func(key, string)) {
	for _, e := range q.next.graph.To(q.next.at(k)) {
		if user, ok := keyOf(e.From); ok && needs(e) && q.changes[user] {
			keep(user, fmt.Sprintf("it refers to %s %q, which is left out", k.kind(), words.Short(k.name)))
		}
	}
}

// eachForerunner keeps a listener whose address a withheld listener was to take over, unless another listener would use that address.
func (q *quarantine) eachForerunner(k key, keep func(key, string)) {
	taken := addressOf(q.next.at(k))
	if taken == nil {
		return
	}
	how := Kept
	if q.base.at(k) == nil {
		how = LeftOut
	}
	var left []key
	for _, at := range q.order {
		r, _ := q.at(at)
		switch {
		case proto.Equal(taken, addressOf(r)):
			return
		case proto.Equal(taken, addressOf(q.base.at(at))):
			left = append(left, at)
		}
	}
	for _, at := range left {
		keep(at, fmt.Sprintf("listener %q, which was to take its address, %s", words.Short(k.name), how))
	}
}

// addressOf returns the address of a listener, or nil.
func addressOf(r *graph.Resource) *corev3.Address {
	if r == nil {
		return nil
	}
	l, _ := r.Message.(*listenerv3.Listener)
	return l.GetAddress()
}

// eachNeed keeps resources that a kept resource refers to, if they would be removed.
func (q *quarantine) eachNeed(k key, was *graph.Resource, keep func(key, string)) {
	for _, e := range q.base.graph.From(was) {
		if !needs(e) {
			continue
		}
		if to, ok := keyOf(e.To); ok && q.next.at(to) == nil {
			keep(to, fmt.Sprintf("%s %q, which stays as it is, refers to it", k.kind(), words.Short(k.name)))
		}
	}
}

// eachEmptied keeps endpoints that would all be removed while a kept resource still leads to them, if its new version does not: the new snapshot
// would send no requests there. If the new version still leads there, or there are other endpoints, the new ones are pushed.
func (q *quarantine) eachEmptied(keep func(key, string)) {
	unasked := sync.OnceValue(q.unasked)
	for _, k := range q.order {
		is := q.next.at(k)
		if k.of != types.Endpoint || is == nil || hasEndpoints(is) || !hasEndpoints(q.base.at(k)) {
			continue
		}
		now := q.leadTo(k, func(key) *candidate { return q.next })
		out := q.leadTo(k, func(user key) *candidate {
			if unasked()[user] {
				return nil
			}
			_, side := q.at(user)
			return side
		})
		for _, user := range q.order {
			if _, kept := q.kept[user]; kept && out[user] && !now[user] {
				keep(k, fmt.Sprintf("%s %q, which stays as it is, leads to it, and the new version has no endpoints", user.kind(), words.Short(user.name)))
				break
			}
		}
	}
}

// leadTo lists what leads to a resource over any number of references. Side says from which candidate each user is taken; nil: it is left out.
func (q *quarantine) leadTo(k key, side func(user key) *candidate) map[key]bool {
	all := map[key]bool{}
	for next := []key{k}; len(next) > 0; next = next[1:] {
		for _, in := range []*candidate{q.base, q.next} {
			for _, e := range in.graph.To(in.at(next[0])) {
				if user, ok := keyOf(e.From); ok && !all[user] && side(user) == in {
					all[user] = true
					next = append(next, user)
				}
			}
		}
	}
	return all
}

// hasEndpoints reports whether an assignment has endpoints. A collection (LEDS) counts as some, since its endpoints are not known.
func hasEndpoints(r *graph.Resource) bool {
	if r == nil {
		return false
	}
	a, _ := r.Message.(*endpointv3.ClusterLoadAssignment)
	return slices.ContainsFunc(a.GetEndpoints(), func(l *endpointv3.LocalityLbEndpoints) bool {
		return len(l.GetLbEndpoints())+len(l.GetLoadBalancerEndpoints().GetLbEndpoints()) > 0 || l.GetLedsClusterLocalityConfig() != nil
	})
}

// needs reports whether the target of a reference must exist. It need not for subscriptions, which refer to all resources of a kind, and for
// names of parts of another resource.
func needs(e *graph.Edge) bool {
	switch e.Kind {
	case graph.ScopedRouteConfiguration, graph.VirtualHost, graph.LbEndpoint, graph.HTTPFilter, graph.DNSCache:
		return false
	}
	return e.To != nil && e.To != e.From
}

// named are the kinds that Envoy requests by name. Over ADS, a SnapshotCache does not answer a SotW request for a type if it has a resource of
// the type that is not requested (superset in pkg/cache/v3/simple.go).
var named = map[graph.Kind]bool{
	graph.RouteConfiguration: true, graph.ClusterLoadAssignment: true, graph.Secret: true, graph.ExtensionConfig: true,
}

// unasked lists resources that are not pushed because no pushed resource refers to them: resources that are requested by name and are new or no
// longer referred to, and resources that were to be removed. A resource that the node has and that nothing ever referred to stays: it may be
// requested in a way that the gate cannot see.
func (q *quarantine) unasked() map[key]bool {
	all := map[key]bool{}
	blind := sync.OnceValue(q.blind)
	for before := -1; len(all) > before; {
		before = len(all)
		asked := q.asked(all)
		for _, k := range q.order {
			was, is := q.base.at(k), q.next.at(k)
			r, _ := q.at(k)
			switch {
			case r == nil || asked[k] || !named[k.kind()] && is != nil:
			case len(q.base.graph.To(was))+len(q.next.graph.To(is)) > 0 || was == nil && q.wanted(k.kind()) && !blind():
				all[k] = true
			}
		}
	}
	return all
}

// wanted reports whether the bootstrap is known, or something that is pushed refers to a kind. Otherwise a resource may be for the bootstrap:
// route configurations for its listeners, endpoints for its clusters.
func (q *quarantine) wanted(kind graph.Kind) bool {
	of := func(e *graph.Edge) bool { return e.Kind == kind }
	return q.options.Bootstrap != nil || slices.ContainsFunc(q.base.graph.References(), of) || slices.ContainsFunc(q.next.graph.References(), of)
}

// blind reports whether a pushed resource may have references that the gate cannot see.
func (q *quarantine) blind() bool {
	const onDemandSecret = "envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config"
	blind := false
	for _, k := range q.order {
		r, _ := q.at(k)
		if r == nil {
			continue
		}
		r.Walk(func(at *graph.Place) {
			blind = blind || at.Opaque || at.Message.Descriptor().FullName() == onDemandSecret
		})
	}
	return blind
}

// asked lists what pushed resources refer to.
func (q *quarantine) asked(without map[key]bool) map[key]bool {
	all := map[key]bool{}
	note := func(edges []*graph.Edge) {
		for _, e := range edges {
			if k, ok := keyNamed(e.Kind, e.Target); ok {
				all[k] = true
			}
			if e.To != nil && e.To != e.From {
				if k, ok := keyOf(e.To); ok {
					all[k] = true
				}
			}
		}
	}
	for _, r := range q.bootstrap.resources {
		note(q.next.graph.From(r))
	}
	for _, k := range q.order {
		if r, from := q.at(k); r != nil && !without[k] {
			note(from.graph.From(r))
		}
	}
	return all
}

// at returns the resource that would be pushed under a key, and the candidate that it is from.
func (q *quarantine) at(k key) (*graph.Resource, *candidate) {
	if _, kept := q.kept[k]; kept {
		return q.base.at(k), q.base
	}
	return q.next.at(k), q.next
}
