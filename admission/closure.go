package admission

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/proto"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/graph"
)

// close withholds, with the blamed changes, what cannot be without them: a resource that refers to one that is left out stays as it was, what
// one that stays refers to stays too, and a listener stays whose address one would take that is left out.
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
		if was := q.base.resources[k]; was == nil {
			q.eachUser(k, keep)
			q.eachForerunner(k, keep)
		} else {
			q.eachNeed(k, was, keep)
		}
	}
}

// eachUser keeps what refers to a resource that is left out, if it has changed. What has not referred to it before, in vain.
func (q *quarantine) eachUser(k key, keep func(key, string)) {
	for _, e := range q.next.graph.To(q.next.resources[k]) {
		if user, ok := keyOf(e.From); ok && needs(e) && q.changes[user] {
			keep(user, fmt.Sprintf("it refers to %s %q, which is left out", k.kind(), k.name))
		}
	}
}

// eachForerunner keeps the listeners that one which is left out was to replace, under another name: else nobody would listen there.
func (q *quarantine) eachForerunner(k key, keep func(key, string)) {
	replacing, ok := q.next.resources[k].Message.(*listenerv3.Listener)
	if !ok || replacing.GetAddress() == nil {
		return
	}
	for _, at := range q.base.order {
		was, ok := q.base.resources[at].Message.(*listenerv3.Listener)
		if ok && q.next.resources[at] == nil && proto.Equal(was.GetAddress(), replacing.GetAddress()) {
			keep(at, fmt.Sprintf("listener %q, which has its address, is left out", k.name))
		}
	}
}

// eachNeed keeps what a resource that stays refers to, if it would be gone.
func (q *quarantine) eachNeed(k key, was *graph.Resource, keep func(key, string)) {
	for _, e := range q.base.graph.From(was) {
		if !needs(e) {
			continue
		}
		if to, ok := keyOf(e.To); ok && q.next.resources[to] == nil {
			keep(to, fmt.Sprintf("%s %q, which stays as it is, refers to it", k.kind(), k.name))
		}
	}
}

// needs tells a reference to a resource that has to be there. The edges of subscriptions lead to all that there is of a kind, and two kinds of
// names only mean what another resource has inside.
func needs(e *graph.Edge) bool {
	switch e.Kind {
	case graph.ScopedRouteConfiguration, graph.VirtualHost, graph.LbEndpoint, graph.HTTPFilter, graph.DNSCache:
		return false
	}
	return e.To != nil && e.To != e.From
}

// named are the kinds that Envoy asks for by name. Over ADS, a SnapshotCache answers no SotW request for a type of which it has one that is
// not asked for (superset in pkg/cache/v3/simple.go).
var named = map[graph.Kind]bool{
	graph.RouteConfiguration: true, graph.ClusterLoadAssignment: true, graph.Secret: true, graph.ExtensionConfig: true,
}

// unasked lists what is not to go out since nobody that does refers to it: what is asked for by name and is new or has lost those who asked,
// and what was to be removed. What the node has although nobody ever asked stays: maybe it is asked for in a way that cannot be seen.
func (q *quarantine) unasked() map[key]bool {
	all := map[key]bool{}
	blind := sync.OnceValue(q.blind)
	for before := -1; len(all) > before; {
		before = len(all)
		asked := q.asked(all)
		for _, k := range q.order {
			was, is := q.base.resources[k], q.next.resources[k]
			r, _ := q.at(k)
			switch {
			case r == nil || asked[k] || !named[k.kind()] && is != nil:
			case len(q.base.graph.To(was))+len(q.next.graph.To(is)) > 0 || was == nil && !blind():
				all[k] = true
			}
		}
	}
	return all
}

// blind tells whether something goes out of which not all references can be seen.
func (q *quarantine) blind() bool {
	blind := false
	for _, k := range q.order {
		r, _ := q.at(k)
		if r == nil {
			continue
		}
		r.Walk(func(at *graph.Place) {
			blind = blind || at.Opaque || at.Message.Descriptor().FullName() == "envoy.extensions.transport_sockets.tls.cert_selectors.on_demand_secret.v3.Config"
		})
	}
	return blind
}

// asked lists what resources refer to, except for those that are left out.
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

// at is what would go out under a key, and the side that it is from.
func (q *quarantine) at(k key) (*graph.Resource, *judged) {
	if _, kept := q.kept[k]; kept {
		return q.base.resources[k], q.base
	}
	return q.next.resources[k], q.next
}
