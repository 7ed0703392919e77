package reference_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/reference"
)

// updated are the clauses that only a change shows.
var updated = []string{
	"version-unchanged", "resource-version-unchanged", "endpoints-not-resent", "update-not-sent", "creation-not-sent", "removal-not-sent", "unsubscribed-sent",
}

// unseen are the clauses whose flaws do more over gRPC than break them, or hide what they are about.
var unseen = map[string]string{
	"resource-type-differs":    "the flaw changes a resource, and not its version",
	"empty-deletes-nothing":    "the flaw swallows an ACK with names",
	"new-version-same-content": "the flaw swallows an ACK with names",
}

// forAll are flaws of all streams, in place of those of the first client that asks.
var forAll = map[string]func(reference.Session) reference.Session{
	"new-request-unanswered":  func(s reference.Session) reference.Session { return withholding(s, reference.Endpoints, resent()) },
	"subscription-unanswered": silent(func(name string) bool { return name == "xdslint-conform-absent" }),
	"update-not-sent":         func(s reference.Session) reference.Session { return withholding(s, reference.Endpoints, repeated()) },
	"creation-not-sent":       sleeping,
	"removal-not-sent":        func(s reference.Session) reference.Session { return withholding(s, reference.Clusters, kept()) },
}

// repeated returns a function that removes resources whose name was sent before with another content.
func repeated() func(proto.Message) proto.Message {
	before := map[string]string{}
	return func(p proto.Message) proto.Message {
		return keep(p, func(name, content string) bool {
			first, known := before[name]
			before[name] = content
			return !known || first == content
		})
	}
}

// resent returns a function that removes resources that were sent before.
func resent() func(proto.Message) proto.Message {
	before := map[string]string{}
	return func(p proto.Message) proto.Message {
		return keep(p, func(name, content string) bool {
			same := before[name] == content
			before[name] = content
			return !same
		})
	}
}

// kept returns a function that does not remove what was sent.
func kept() func(proto.Message) proto.Message {
	sent := map[string]bool{}
	return func(p proto.Message) proto.Message {
		d := p.(*discoveryv3.DeltaDiscoveryResponse)
		d.RemovedResources = slices.DeleteFunc(d.RemovedResources, func(name string) bool { return sent[name] })
		for _, r := range d.GetResources() {
			sent[r.GetName()] = true
		}
		if len(d.GetResources())+len(d.GetRemovedResources()) == 0 {
			return nil
		}
		return d
	}
}

// asleep is a session that does not send endpoints that are created while a client waits for them.
type asleep struct {
	*altered
	asked bool
}

func (s *asleep) Request(q proto.Message) []proto.Message {
	s.asked = true
	return s.altered.Request(q)
}

func (s *asleep) Changed() []proto.Message {
	s.asked = false
	return s.altered.Changed()
}

func sleeping(of reference.Session) reference.Session {
	s, sent := &asleep{}, map[string]bool{}
	s.altered = withholding(of, reference.Endpoints, func(p proto.Message) proto.Message {
		return keep(p, func(name, _ string) bool {
			sent[name] = sent[name] || s.asked
			return sent[name]
		})
	})
	return s
}

// keep removes endpoints for which f returns false. It returns nothing if nothing is left.
func keep(p proto.Message, f func(name, content string) bool) proto.Message {
	lost := func(body *anypb.Any) bool {
		var a endpointv3.ClusterLoadAssignment
		return body.UnmarshalTo(&a) == nil && !f(a.GetClusterName(), string(body.GetValue()))
	}
	return reduced(p, lost)
}

// TestConform: xdslint conform finds the flaws over gRPC too, by their clauses and no others. In a bubble, an answer that
// does not come costs no time.
func TestConform(t *testing.T) {
	for _, m := range mutants {
		if unseen[m.clause] != "" {
			continue
		}
		t.Run(m.clause, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, m.conform)
		})
	}
}

// TestConformPermitted: it finds nothing in what is permitted.
func TestConformPermitted(t *testing.T) {
	for _, m := range permitted {
		t.Run(m.clause, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				for v, messages := range m.found(t, true) {
					for clause, message := range messages {
						t.Errorf("%s: %s: %s", v, clause, message)
					}
				}
			})
		})
	}
}

// conform tests a server with the flaw.
func (m mutant) conform(t *testing.T) {
	for v, messages := range m.found(t, slices.Contains(updated, m.clause)) {
		if m.only != nil && !m.only(v) {
			continue
		}
		if messages["protocol/"+m.clause] == "" {
			t.Errorf("%s: not found", v)
		}
		delete(messages, "protocol/"+m.clause)
		for clause, message := range messages {
			t.Errorf("%s: also found: %s: %s", v, clause, message)
		}
	}
}

// found tests a server with the flaw, with changes or without. It returns the messages by clause, for each variant.
func (m mutant) found(t *testing.T, changes bool) map[variant]map[string]string {
	s := reference.NewStore()
	reference.Fill(s)
	flaw, ok := forAll[m.clause]
	if !ok {
		flaw = m.flaw()
	}
	var mu sync.Mutex // streams share the state of a flaw
	s.Wrap = func(s reference.Session, delta bool) reference.Session {
		if m.only != nil && !m.only(variant{delta, true}) && !m.only(variant{delta, false}) {
			return s
		}
		mu.Lock()
		defer mu.Unlock()
		return &serial{flaw(s), &mu}
	}
	l, server := reference.Memory()
	defer reference.ServeOn(s, l).Stop()
	o := conform.Options{Node: &corev3.Node{Id: "edge-1"}}
	if changes {
		o.Change = reference.Changer(s)
	}
	report, err := conform.Run(t.Context(), server, o)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]variant{"sotw-ads": {false, true}, "sotw": {false, false}, "delta-ads": {true, true}, "delta": {true, false}}
	found := map[variant]map[string]string{}
	for _, c := range report.Clauses {
		v := names[c.Transport]
		if found[v] == nil {
			found[v] = map[string]string{}
		}
		if c.Status == conform.Broken {
			found[v][c.Clause] = fmt.Sprintf("%s: %s", c.Evidence[0].Scenario, c.Evidence[0].Message)
		}
	}
	return found
}

// serial is a session that shares state with others.
type serial struct {
	reference.Session
	mu *sync.Mutex
}

func (s *serial) Request(q proto.Message) []proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Session.Request(q)
}

func (s *serial) Changed() []proto.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Session.Changed()
}
