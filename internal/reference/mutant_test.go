package reference_test

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// altered is a session with a flaw: it changes what comes and goes.
type altered struct {
	reference.Session
	in  func(next reference.Session, q proto.Message) []proto.Message // nil: nothing is changed
	out func(p proto.Message) []proto.Message
}

func (a *altered) Request(q proto.Message) []proto.Message {
	if a.in == nil {
		return a.all(a.Session.Request(q))
	}
	return a.all(a.in(a.Session, q))
}

func (a *altered) Changed() []proto.Message { return a.all(a.Session.Changed()) }

func (a *altered) all(in []proto.Message) (out []proto.Message) {
	if a.out == nil {
		return in
	}
	for _, p := range in {
		out = append(out, a.out(p)...)
	}
	return out
}

// The fields of both kinds of messages, by name.

func field(m proto.Message, name protoreflect.Name) protoreflect.FieldDescriptor {
	return m.ProtoReflect().Descriptor().Fields().ByName(name)
}

func get(m proto.Message, name protoreflect.Name) string {
	return m.ProtoReflect().Get(field(m, name)).String()
}

func set(m proto.Message, name protoreflect.Name, value string) {
	m.ProtoReflect().Set(field(m, name), protoreflect.ValueOfString(value))
}

func clone[M proto.Message](m M) M { return proto.Clone(m).(M) }

// edit is a flaw that changes copies of responses. It returns them, and more or fewer.
func edit(f func(p proto.Message) []proto.Message) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		return &altered{Session: s, out: func(p proto.Message) []proto.Message { return f(proto.Clone(p)) }}
	}
}

// once is a flaw that changes the nth response of a type that has resources, counted from 1.
func once(typeURL string, n int, f func(p proto.Message) []proto.Message) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		count := 0
		return edit(func(p proto.Message) []proto.Message {
			if get(p, "type_url") != typeURL || p.ProtoReflect().Get(field(p, "resources")).List().Len() == 0 {
				return []proto.Message{p}
			}
			if count++; count != n {
				return []proto.Message{p}
			}
			return f(p)
		})(s)
	}
}

// renamed is a flaw that gives a response another nonce. The session gets the right one back.
func renamed(typeURL string, n int, nonce func(before string) string) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		count, before, right, alias := 0, "", "", ""
		active := false
		return &altered{
			Session: s,
			out: func(p proto.Message) []proto.Message {
				if get(p, "type_url") != typeURL {
					return []proto.Message{p}
				}
				active = false
				if count++; count == n {
					p = proto.Clone(p)
					right, alias, active = get(p, "nonce"), nonce(before), true
					set(p, "nonce", alias)
				}
				before = get(p, "nonce")
				return []proto.Message{p}
			},
			in: func(next reference.Session, q proto.Message) []proto.Message {
				if active && get(q, "type_url") == typeURL && get(q, "response_nonce") == alias {
					q = proto.Clone(q)
					set(q, "response_nonce", right)
				}
				return next.Request(q)
			},
		}
	}
}

// mutant is a flaw of the server, and the clause that it breaks.
type mutant struct {
	clause string
	only   func(variant) bool                               // the variants that can show it; nil: all
	flaw   func() func(reference.Session) reference.Session // for all streams of a run
}

func sotw(v variant) bool  { return !v.delta }
func delta(v variant) bool { return v.delta }

func one(p proto.Message) []proto.Message { return []proto.Message{p} }

// each is a flaw of each stream by itself.
func each(f func(reference.Session) reference.Session) func() func(reference.Session) reference.Session {
	return func() func(reference.Session) reference.Session { return f }
}

var mutants = []mutant{
	{"nonce-missing", nil, each(renamed(reference.Clusters, 2, func(string) string { return "" }))},
	{"nonce-reused", nil, each(renamed(reference.Endpoints, 2, func(before string) string { return before }))},
	{"response-type-missing", nil, each(before(reference.Listeners, func(p proto.Message) { set(p, "type_url", "") }))},
	{"response-type-differs", func(v variant) bool { return !v.aggregated }, each(before(reference.Listeners, func(p proto.Message) { set(p, "type_url", reference.Routes) }))},
	{"response-unrequested", func(v variant) bool { return v.aggregated }, each(before(reference.Listeners, func(p proto.Message) {
		set(p, "type_url", "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret")
		p.ProtoReflect().Clear(field(p, "resources"))
	}))},
	{"resource-type-differs", nil, each(once(reference.Routes, 1, func(p proto.Message) []proto.Message {
		other, _ := anypb.New(&clusterv3.Cluster{Name: "web"})
		switch p := p.(type) {
		case *discoveryv3.DiscoveryResponse:
			p.Resources[0] = other
		case *discoveryv3.DeltaDiscoveryResponse:
			p.Resources[0].Resource = other
		}
		return one(p)
	}))},
	{"version-missing", sotw, each(once(reference.Routes, 1, func(p proto.Message) []proto.Message {
		set(p, "version_info", "")
		return one(p)
	}))},
	{"version-unchanged", sotw, each(edit(func(p proto.Message) []proto.Message {
		if get(p, "type_url") == reference.Clusters {
			set(p, "version_info", "frozen")
		}
		return one(p)
	}))},
	{"resource-version-unchanged", delta, each(edit(func(p proto.Message) []proto.Message {
		for _, r := range p.(*discoveryv3.DeltaDiscoveryResponse).GetResources() {
			if get(p, "type_url") == reference.Endpoints {
				r.Version = "frozen"
			}
		}
		return one(p)
	}))},
	{"resource-version-missing", delta, each(once(reference.Routes, 1, func(p proto.Message) []proto.Message {
		p.(*discoveryv3.DeltaDiscoveryResponse).Resources[0].Version = ""
		return one(p)
	}))},
	{"resource-unnamed", delta, each(once(reference.Listeners, 1, func(p proto.Message) []proto.Message {
		p.(*discoveryv3.DeltaDiscoveryResponse).Resources[0].Name = ""
		return one(p)
	}))},
	{"duplicate-name", nil, each(once(reference.Routes, 1, twice))},
	{"removed-and-sent", delta, each(once(reference.Routes, 1, removedToo))},
	{"resource-unrequested", nil, each(once(reference.Routes, 1, func(p proto.Message) []proto.Message {
		extra := clone(web)
		extra.Name = "extra"
		body, _ := anypb.New(extra)
		switch p := p.(type) {
		case *discoveryv3.DiscoveryResponse:
			p.Resources = append(p.Resources, body)
		case *discoveryv3.DeltaDiscoveryResponse:
			p.Resources = append(p.Resources, &discoveryv3.Resource{Name: "extra", Version: "1", Resource: body})
		}
		return one(p)
	}))},
	{"resent-unchanged", nil, each(again(func(q proto.Message) bool { return !rejects(q) }))},
	{"nack-loop", nil, each(again(rejects))},
	{"new-version-same-content", nil, each(bumped)},
	{"empty-list-as-wildcard", nil, each(emptyIsAll(reference.Clusters))},
	{"unsubscribed-sent", delta, each(forgetful)},
	{"state-incomplete", sotw, each(partial)},
	{"empty-deletes-nothing", sotw, each(emptied)},
	{"wildcard-unanswered", nil, each(mute)},
	{"subscription-unanswered", delta, each(silent(func(name string) bool { return name == "never" }))},
	{"resubscription-unanswered", delta, each(heedless)},
	{"unsubscription-unanswered", delta, each(unclear)},
	{"endpoints-not-resent", func(v variant) bool { return !v.delta && v.aggregated }, each(ignoresRepeats)},
	{"update-not-sent", nil, func() func(reference.Session) reference.Session {
		return lossy(reference.Endpoints, onlyOnce(without("shop", 8082)))()
	}},
	{"creation-not-sent", nil, lossy(reference.Endpoints, without("late", 8080))},
	{"removal-not-sent", delta, lossy(reference.Clusters, keeps)},
	{"new-request-unanswered", sotw, remembers},
	{"known-version-resent", delta, each(ignoresKnown)},
}

// TestMutants: each flaw of the server is found, by its clause and no other, in each variant that can show it.
func TestMutants(t *testing.T) {
	for _, m := range slices.Concat(mutants, others, homemade) {
		inVariants(t, m.clause, m.only, func(h *harness) {
			m.wrap(h)
			h.breaksOnly(m.clause)
		})
	}
}

// inVariants runs a test in each variant, or only in some.
func inVariants(t *testing.T, name string, only func(variant) bool, test func(*harness)) {
	for _, v := range variants {
		if only == nil || only(v) {
			t.Run(name+", "+v.String(), func(t *testing.T) { test(newHarness(t, v)) })
		}
	}
}

// wrap gives the server of a harness the flaw.
func (m mutant) wrap(h *harness) {
	flaw := m.flaw()
	h.store.Wrap = func(s reference.Session, _ bool) reference.Session { return flaw(s) }
}

// wrongs are flaws of the client.
var wrongs = []struct {
	clause string
	only   func(variant) bool
	alter  func() func(c *client, q proto.Message) []proto.Message
}{
	{"node-missing", nil, first(func(q proto.Message) { q.ProtoReflect().Clear(field(q, "node")) })},
	{"node-changed", nil, func() func(*client, proto.Message) []proto.Message {
		return func(c *client, q proto.Message) []proto.Message {
			if node := q.ProtoReflect().Mutable(field(q, "node")).Message(); get(node.Interface(), "id") == "" {
				set(node.Interface(), "id", "other")
			}
			return one(q)
		}
	}},
	{"nonce-on-first-request", delta, first(func(q proto.Message) { set(q, "response_nonce", "old") })},
	{"request-type-differs", func(v variant) bool { return !v.aggregated }, first(func(q proto.Message) {
		if get(q, "type_url") == reference.Listeners {
			set(q, "type_url", reference.Routes)
		}
	})},
	{"ack-version", sotw, answering(reference.Routes, func(q proto.Message) { set(q, "version_info", "other") })},
	{"nack-version", sotw, rejecting(func(q proto.Message, sent string) { set(q, "version_info", sent) })},
	{"nack-without-reason", nil, rejecting(func(q proto.Message, _ string) {
		q.ProtoReflect().Mutable(field(q, "error_detail")).Message().Clear(field(failure, "message"))
	})},
	{"answer-missing", nil, func() func(*client, proto.Message) []proto.Message {
		return func(c *client, q proto.Message) []proto.Message {
			if get(q, "type_url") == reference.Listeners && get(q, "response_nonce") != "" {
				return nil
			}
			return one(q)
		}
	}},
}

// TestClientMutants: each flaw of a client is found in the same way.
func TestClientMutants(t *testing.T) {
	for _, m := range wrongs {
		inVariants(t, m.clause, m.only, func(h *harness) {
			h.alter = m.alter()
			h.breaksOnly(m.clause)
		})
	}
}

// first alters requests with a node: the first of a stream.
func first(f func(proto.Message)) func() func(*client, proto.Message) []proto.Message {
	return func() func(*client, proto.Message) []proto.Message {
		return func(c *client, q proto.Message) []proto.Message {
			if q.ProtoReflect().Has(field(q, "node")) {
				f(q)
			}
			return one(q)
		}
	}
}

// answering alters ACKs of a type.
func answering(typeURL string, f func(proto.Message)) func() func(*client, proto.Message) []proto.Message {
	return func() func(*client, proto.Message) []proto.Message {
		return func(c *client, q proto.Message) []proto.Message {
			if get(q, "type_url") == typeURL && get(q, "response_nonce") != "" {
				f(q)
			}
			return one(q)
		}
	}
}

// rejecting alters NACKs. It gets the version that is rejected: the store counts them.
func rejecting(f func(q proto.Message, sent string)) func() func(*client, proto.Message) []proto.Message {
	return func() func(*client, proto.Message) []proto.Message {
		return func(c *client, q proto.Message) []proto.Message {
			if rejects(q) {
				f(q, c.types[get(q, "type_url")].latest)
			}
			return one(q)
		}
	}
}

func rejects(q proto.Message) bool { return q.ProtoReflect().Has(field(q, "error_detail")) }

func names(q proto.Message) []string {
	if d, ok := q.(*discoveryv3.DeltaDiscoveryRequest); ok {
		return d.GetResourceNamesSubscribe()
	}
	return slices.Clone(q.(*discoveryv3.DiscoveryRequest).GetResourceNames())
}
