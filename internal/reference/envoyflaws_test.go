package reference_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/reference"
)

// TestHarm: for each clause about servers, a test shows a real client that is wrong because of a breach, or the clause says why
// none is.
func TestHarm(t *testing.T) {
	shown := map[string]bool{"nonce-reused": true, "empty-list-as-wildcard": true, "response-type-differs": true} // tests of their own
	for _, h := range harms {
		shown[h.clause] = true
	}
	for _, h := range proxylessHarms {
		shown[h.clause] = true
	}
	for _, h := range onDemand {
		shown[h.clause] = true
	}
	for _, h := range collections {
		shown[h.clause] = true
	}
	for _, c := range protocol.Clauses() {
		if !c.Client && shown[c.Name] == (c.Harmless != "") {
			t.Errorf("%s: a client is wrong in a test: %t, harmless: %q", c.Name, shown[c.Name], c.Harmless)
		}
	}
}

// answered is what a server has heard of a client.
type answered struct {
	sync.Mutex
	requests map[string]int // by type
	named    map[string]int // by type: the names in the last request
	nonces   map[string]bool
}

// counted lets a session count.
func (a *answered) counted(s reference.Session) reference.Session {
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		a.Lock()
		defer a.Unlock()
		if a.requests == nil {
			a.requests, a.named, a.nonces = map[string]int{}, map[string]int{}, map[string]bool{}
		}
		url := get(q, "type_url")
		a.requests[url]++
		a.named[url] = len(names(q))
		a.nonces[get(q, "response_nonce")] = true
		return next.Request(q)
	}}
}

// about returns how many requests about a type there were, and how many names the last one has.
func (a *answered) about(typeURL string) (requests, named int) {
	a.Lock()
	defer a.Unlock()
	return a.requests[typeURL], a.named[typeURL]
}

// response reports whether the client has answered a response.
func (a *answered) response(nonce string) bool {
	a.Lock()
	defer a.Unlock()
	return a.nonces[nonce]
}

// returns lets Envoy return to the server after a change.
func (f *fleet) returns(change func()) {
	f.t.Helper()
	f.server.Stop()
	change()
	f.serve(f.server.Address)
}

// listens adds a listener with its routes. When Envoy has it, it has what was sent before.
func (f *fleet) listens() {
	f.t.Helper()
	f.listen(`"route_config": {"name": "web"}`)
	f.shows("/listeners", "web::")
}

// withoutNonces sends endpoints without a nonce.
func withoutNonces(s reference.Session) reference.Session {
	return edit(func(p proto.Message) []proto.Message {
		if get(p, "type_url") == reference.Endpoints {
			set(p, "nonce", "")
		}
		return one(p)
	})(s)
}

// rollsBack sends an invalid copy of each new response about clusters before it, and takes it back if the client rejects it.
// With the flaw, both have the same nonce.
func rollsBack(sameNonce bool) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		var first, last proto.Message
		return &altered{
			Session: s,
			out: func(p proto.Message) []proto.Message {
				if get(p, "type_url") != reference.Clusters {
					return one(p)
				}
				last = p
				if first == nil {
					first = p
					return one(p)
				}
				bad := proto.Clone(p)
				if !sameNonce {
					set(bad, "nonce", "bad")
				}
				return []proto.Message{invalid(bad), p}
			},
			in: func(next reference.Session, q proto.Message) []proto.Message {
				switch {
				case get(q, "type_url") != reference.Clusters:
				case get(q, "response_nonce") == "back", get(q, "response_nonce") == "bad":
					return nil
				case rejects(q) && get(q, "response_nonce") == get(last, "nonce"):
					return one(instead(last, first))
				}
				return next.Request(q)
			},
		}
	}
}

// invalid makes the first cluster of a response, which is new, invalid.
func invalid(p proto.Message) proto.Message {
	bad, _ := anypb.New(reference.Make("cluster", "cart", -1)) // a message can be packed
	switch p := p.(type) {
	case *discoveryv3.DiscoveryResponse:
		p.Resources[0] = bad
	case *discoveryv3.DeltaDiscoveryResponse:
		p.Resources[0].Resource = bad
	}
	return p
}

// instead returns the response that restores what a client had before the last one.
func instead(last, before proto.Message) proto.Message {
	p := proto.Clone(before)
	set(p, "nonce", "back")
	if d, ok := p.(*discoveryv3.DeltaDiscoveryResponse); ok {
		for _, r := range last.(*discoveryv3.DeltaDiscoveryResponse).GetResources() {
			d.RemovedResources = append(d.RemovedResources, r.GetName())
		}
	}
	return p
}

// deletesByNothing sends nothing in place of an assignment without endpoints.
func deletesByNothing(s reference.Session) reference.Session {
	return edit(func(p proto.Message) []proto.Message {
		d := p.(*discoveryv3.DiscoveryResponse)
		d.Resources = slices.DeleteFunc(d.Resources, func(body *anypb.Any) bool {
			var a endpointv3.ClusterLoadAssignment
			return body.UnmarshalTo(&a) == nil && len(a.GetEndpoints()) == 0
		})
		return one(p)
	})(s)
}

// eagerly sends routes before the client has asked for them, and waits for the ACK.
func eagerly(s reference.Session) reference.Session {
	waiting := true
	return &altered{
		Session: s,
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") != reference.Listeners {
				return one(p)
			}
			extra := proto.Clone(p)
			set(extra, "type_url", reference.Routes)
			set(extra, "nonce", "eager")
			extra.ProtoReflect().Clear(field(extra, "resources"))
			return []proto.Message{extra, p}
		},
		in: func(next reference.Session, q proto.Message) []proto.Message {
			if get(q, "type_url") == reference.Routes {
				if waiting = waiting && get(q, "response_nonce") != "eager"; waiting {
					return nil
				}
			}
			return next.Request(q)
		},
	}
}

// frozen gives clusters the same version for ever, and does not send a client that returns what it has by the version.
func frozen(s reference.Session) reference.Session {
	known := map[string]string{}
	return &altered{
		Session: s,
		in: func(next reference.Session, q proto.Message) []proto.Message {
			switch q := q.(type) {
			case *discoveryv3.DeltaDiscoveryRequest:
				maps.Copy(known, q.GetInitialResourceVersions())
			case *discoveryv3.DiscoveryRequest:
				if q.GetTypeUrl() == reference.Clusters && q.GetResponseNonce() == "" && q.GetVersionInfo() == "frozen" {
					return nil
				}
			}
			return next.Request(q)
		},
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") != reference.Clusters {
				return one(p)
			}
			switch p := proto.Clone(p).(type) {
			case *discoveryv3.DiscoveryResponse:
				p.VersionInfo = "frozen"
				return one(p)
			case *discoveryv3.DeltaDiscoveryResponse:
				for _, r := range p.GetResources() {
					r.Version = "frozen"
				}
				p.Resources = slices.DeleteFunc(p.Resources, func(r *discoveryv3.Resource) bool { return known[r.GetName()] == "frozen" })
				return one(p)
			}
			return nil
		},
	}
}

// TestRollback: a server that takes back what Envoy rejects takes back what Envoy has accepted, if two of its responses have the
// same nonce (nonce-reused).
func TestRollback(t *testing.T) {
	envoytest.Need(t)
	for _, delta := range []bool{false, true} {
		for _, flawed := range []bool{false, true} {
			t.Run(fmt.Sprintf("Delta %t, flawed %t", delta, flawed), func(t *testing.T) {
				t.Parallel()
				f := newFleet(t, envoytest.Newest, delta, rollsBack(flawed))
				f.shows("/clusters", at("shop", 1))
				f.cluster("cart", 1)
				f.endpoints("cart", 1)
				if !flawed {
					f.shows("/clusters", at("cart", 1))
					return
				}
				f.until(func() bool { return f.answers.response("back") }, func() string { return "the server takes nothing back" })
				f.passes("shop")
				if f.has("/clusters", "cart::") {
					t.Error("Envoy has the cluster")
				}
			})
		}
	}
}

// TestUnwanted: a server that takes an empty list for all gets requests from Envoy about unwanted resources, with the version
// of the last response that it wanted: they look like a NACK (empty-list-as-wildcard).
func TestUnwanted(t *testing.T) {
	envoytest.Need(t)
	for _, flawed := range []bool{false, true} {
		t.Run(fmt.Sprintf("flawed %t", flawed), func(t *testing.T) {
			t.Parallel()
			var flaw func(reference.Session) reference.Session
			if flawed {
				flaw = emptyIsAll(reference.Endpoints)
			}
			f := newFleet(t, envoytest.Newest, false, flaw)
			f.shows("/clusters", at("shop", 1))
			f.store.Delete(reference.Clusters, "shop")
			f.until(func() bool { _, named := f.answers.about(reference.Endpoints); return named == 0 }, func() string { return "Envoy still wants endpoints" })
			before, _ := f.answers.about(reference.Endpoints)
			f.endpoints("news", 1)
			f.listens()
			more := func() bool { got, _ := f.answers.about(reference.Endpoints); return got > before }
			if flawed { // the request may still be under way
				f.until(more, func() string { return "Envoy has sent no request about endpoints" })
			} else if more() {
				t.Error("Envoy has sent a request about endpoints")
			}
		})
	}
}

// TestOtherType: Envoy does not get a listener if the response has another type than its stream (response-type-differs).
func TestOtherType(t *testing.T) {
	envoytest.Need(t)
	for _, delta := range []bool{false, true} {
		separate := func(bootstrap string) string {
			return strings.Replace(bootstrap, "lds_config: "+envoytest.Streams{Delta: delta}.Source(), "lds_config: "+envoytest.Streams{Delta: delta, PerType: true}.Source(), 1)
		}
		for _, flawed := range []bool{false, true} {
			t.Run(fmt.Sprintf("Delta %t, flawed %t", delta, flawed), func(t *testing.T) {
				t.Parallel()
				f := newFleetOn(t, envoytest.Newest, separate, delta, once(reference.Listeners, 1, func(p proto.Message) []proto.Message {
					if flawed {
						set(p, "type_url", reference.Routes)
					}
					return one(p)
				}))
				f.shows("/clusters", at("shop", 1))
				f.listen(`"route_config": {"name": "web"}`)
				f.passes("shop")
				if !flawed {
					f.shows("/listeners", "web::")
				} else if f.has("/listeners", "web::") {
					t.Error("Envoy has the listener")
				}
			})
		}
	}
}
