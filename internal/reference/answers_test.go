package reference_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// later are flaws that short plays show: what happens to a client after it has left, returned or rejected something.
var later = []struct {
	mutant
	play func(h *harness)
}{
	// The client unsubscribes from all, and still gets a change.
	{mutant{"unsubscribed-sent", nil, each(deafTo(func(q proto.Message) bool { return len(names(q)) == 0 && acksNothing(q) }))}, func(h *harness) {
		h.set("shop", assignment("shop", 8080))
		c := h.client("edge-1")
		c.subscribe(reference.Endpoints, "shop")
		c.unsubscribe(reference.Endpoints, "shop")
		h.wait(20 * time.Second)
		h.set("shop", assignment("shop", 8081))
	}},
	// The client leaves the wildcard, and still gets all.
	{mutant{"unsubscribed-sent", nil, each(deafTo(func(q proto.Message) bool { return leavesAll(q) }))}, func(h *harness) {
		h.set("shop", cluster("shop", 1))
		h.set("cart", cluster("cart", 1))
		c := h.client("edge-1")
		c.subscribe(reference.Clusters, "*", "shop")
		c.unsubscribe(reference.Clusters, "*")
		h.wait(20 * time.Second)
		h.set("cart", cluster("cart", 2))
	}},
	// The client leaves the wildcard, and then all names.
	{mutant{"empty-list-as-wildcard", nil, each(emptyIsAll(reference.Clusters))}, func(h *harness) {
		h.set("shop", cluster("shop", 1))
		h.set("cart", cluster("cart", 1))
		h.set("books", cluster("books", 1))
		c := h.client("edge-1")
		c.subscribe(reference.Clusters, "*", "shop")
		c.unsubscribe(reference.Clusters, "*")
		c.subscribe(reference.Clusters, "cart")
		c.unsubscribe(reference.Clusters, "shop", "cart")
	}},
	// The client returns, and the server takes what it has for new.
	{mutant{"update-not-sent", delta, each(trusting)}, returns},
	{mutant{"update-not-sent", sotw, each(resuming)}, returns},
	// Only what has changed is sent, and what is missing stays away.
	{mutant{"state-incomplete", sotw, onlyNews}, func(h *harness) {
		h.set("web", &listenerv3.Listener{Name: "web"})
		h.set("internal", &listenerv3.Listener{Name: "internal"})
		h.client("edge-1").subscribe(reference.Listeners)
		h.set("web", &listenerv3.Listener{Name: "web", StatPrefix: "changed"})
		h.client("edge-1").subscribe(reference.Listeners)
	}},
}

// returns lets a client return after a change, which another client of its node shows.
func returns(h *harness) {
	h.set("shop", cluster("shop", 1))
	c := h.client("edge-1")
	c.subscribe(reference.Clusters)
	c.close()
	h.set("shop", cluster("shop", 2))
	c.reconnect()
	h.client("edge-1").subscribe(reference.Clusters)
}

// TestLater: each of these flaws is found by its clause and no other, and without it nothing is.
func TestLater(t *testing.T) {
	for _, m := range later {
		for _, flawed := range []bool{false, true} {
			inVariants(t, m.clause, m.only, func(h *harness) {
				if flawed {
					m.wrap(h)
				}
				m.play(h)
				h.wait(20 * time.Second)
				for _, c := range h.clients {
					c.close()
				}
				found := h.judge()
				if _, ok := found[m.clause]; ok != flawed {
					h.t.Errorf("flawed: %t, found: %t", flawed, ok)
				}
				delete(found, m.clause)
				for other, message := range found {
					h.t.Errorf("flawed: %t, also found: %s: %s", flawed, other, message)
				}
			})
		}
	}
}

// acksNothing reports whether a request is not the answer to a response that brought something.
func acksNothing(q proto.Message) bool {
	d, delta := q.(*discoveryv3.DeltaDiscoveryRequest)
	return !delta || len(d.GetResourceNamesUnsubscribe()) > 0
}

// leavesAll reports whether a request unsubscribes from the wildcard.
func leavesAll(q proto.Message) bool {
	if d, ok := q.(*discoveryv3.DeltaDiscoveryRequest); ok {
		return slices.Contains(d.GetResourceNamesUnsubscribe(), "*")
	}
	return !slices.Contains(names(q), "*")
}

// deafTo does not hear some requests, but for what they answer.
func deafTo(f func(q proto.Message) bool) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		var before []string
		answered := map[string]bool{}
		return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
			switch q := q.(type) {
			case *discoveryv3.DeltaDiscoveryRequest:
				if f(q) {
					return nil
				}
			case *discoveryv3.DiscoveryRequest:
				again := answered[q.GetResponseNonce()]
				answered[q.GetResponseNonce()] = true
				switch {
				case before == nil || !f(q):
					before = q.GetResourceNames()
				case again:
					return nil
				default:
					q = clone(q)
					q.ResourceNames = before
					return next.Request(q)
				}
			}
			return next.Request(q)
		}}
	}
}

// trusting takes the versions of a client that returns for the newest ones.
func trusting(s reference.Session) reference.Session {
	known := map[string]string{}
	return &altered{
		Session: s,
		in: func(next reference.Session, q proto.Message) []proto.Message {
			for name, version := range q.(*discoveryv3.DeltaDiscoveryRequest).GetInitialResourceVersions() {
				known[name] = version
			}
			return next.Request(q)
		},
		out: func(p proto.Message) []proto.Message {
			d := clone(p.(*discoveryv3.DeltaDiscoveryResponse))
			d.Resources = slices.DeleteFunc(d.Resources, func(r *discoveryv3.Resource) bool { return known[r.GetName()] != "" })
			if len(d.GetResources())+len(d.GetRemovedResources()) == 0 {
				return nil
			}
			return one(d)
		},
	}
}

// resuming does not answer the first request of a client that has a version.
func resuming(s reference.Session) reference.Session {
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		if d := q.(*discoveryv3.DiscoveryRequest); d.GetVersionInfo() != "" && d.GetResponseNonce() == "" {
			return nil
		}
		return next.Request(q)
	}}
}

// onlyNews sends listeners that have changed, and no others.
func onlyNews() func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		sent := map[string]string{}
		return edit(func(p proto.Message) []proto.Message {
			d := p.(*discoveryv3.DiscoveryResponse)
			first := len(sent) == 0
			d.Resources = slices.DeleteFunc(d.Resources, func(body *anypb.Any) bool {
				var l listenerv3.Listener
				_ = body.UnmarshalTo(&l) // it is one
				before := sent[l.GetName()]
				sent[l.GetName()] = string(body.GetValue())
				return !first && before == string(body.GetValue())
			})
			return one(p)
		})(s)
	}
}

// batched sends a resource in each response of Delta, and of SotW for endpoints. The session gets the last answer.
func batched(s reference.Session) reference.Session {
	return &altered{Session: s, out: func(p proto.Message) (out []proto.Message) {
		switch d := p.(type) {
		case *discoveryv3.DiscoveryResponse:
			if d.GetTypeUrl() != reference.Endpoints {
				return one(p)
			}
			for i, body := range d.GetResources() {
				out = append(out, &discoveryv3.DiscoveryResponse{
					TypeUrl: d.GetTypeUrl(), VersionInfo: d.GetVersionInfo(), Nonce: batch(d.GetNonce(), len(d.GetResources())-1-i), Resources: []*anypb.Any{body},
				})
			}
		case *discoveryv3.DeltaDiscoveryResponse:
			for i, r := range d.GetResources() {
				left := len(d.GetResources()) - 1 - i
				b := &discoveryv3.DeltaDiscoveryResponse{TypeUrl: d.GetTypeUrl(), Nonce: batch(d.GetNonce(), left), Resources: []*discoveryv3.Resource{r}}
				if left == 0 {
					b.RemovedResources = d.GetRemovedResources()
				}
				out = append(out, b)
			}
			if out == nil {
				return one(p)
			}
		}
		return out
	}}
}

// batch returns the nonce of a response, after which others follow: the last one has that of all.
func batch(nonce string, left int) string { return strings.Repeat("+", left) + nonce }

// removes answers each unsubscription of Delta with a removal.
func removes(s reference.Session) reference.Session {
	n := 0
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		d := q.(*discoveryv3.DeltaDiscoveryRequest)
		out := next.Request(q)
		if d.GetTypeUrl() == reference.Endpoints && len(d.GetResourceNamesUnsubscribe()) > 0 && len(out) == 0 {
			n++
			out = one(&discoveryv3.DeltaDiscoveryResponse{
				TypeUrl: d.GetTypeUrl(), Nonce: strings.Repeat("-", n), RemovedResources: d.GetResourceNamesUnsubscribe(),
			})
		}
		return out
	}}
}
