package reference_test

import (
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/reference"
)

// TestMain runs more tests side by side than there are processors: they wait more than they compute.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// judge tests a client, and returns the report.
func judge(t *testing.T, v variant, flaw reference.Flaw, wait time.Duration) *conform.Report {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	c := &reference.Client{Delta: v.delta, Aggregated: v.aggregated, Flaw: flaw}
	running.Go(func() { _ = c.Run(ctx, l.Addr().String()) }) // until the test has ended
	report, err := conform.Clients(ctx, l, wait)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestClients: the small client keeps all clauses, and each is put to the test in some variant.
func TestClients(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	tested := map[string]bool{}
	t.Run("variants", func(t *testing.T) {
		for _, v := range variants {
			t.Run(v.String(), func(t *testing.T) {
				t.Parallel()
				report := judge(t, v, reference.Flaw{}, time.Minute)
				for _, note := range report.Notes {
					t.Error(note)
				}
				mu.Lock()
				defer mu.Unlock()
				for _, c := range report.Clauses {
					if c.Status == conform.Broken {
						t.Errorf("%s\n%s", c, c.Evidence[0].Recorded)
					}
					tested[c.Clause] = tested[c.Clause] || c.Status == conform.Kept
				}
			})
		}
	})
	for _, c := range protocol.Clauses() {
		if c.Client && c.Name != "poll-overlapping" && c.Name != "virtual-host-over-sotw" && !tested[c.Rule.ID()] { // about REST, and types that it does not ask for
			t.Errorf("%s is never put to the test", c.Rule.ID())
		}
	}
}

// clientMutants are flaws of the client, each of which breaks one clause.
var clientMutants = []struct {
	clause string
	only   func(variant) bool
	flaw   func() reference.Flaw
}{
	{"node-missing", nil, requests(func(_ *reference.Client, q proto.Message) { q.ProtoReflect().Clear(field(q, "node")) })},
	{"node-changed", nil, func() reference.Flaw {
		n := 0
		return reference.Flaw{Request: func(_ *reference.Client, q proto.Message) []proto.Message {
			n++
			node := q.ProtoReflect().Mutable(field(q, "node")).Message()
			if get(node.Interface(), "id") == "" {
				set(node.Interface(), "id", fmt.Sprint("other-", n))
			}
			return one(q)
		}}
	}},
	{"request-type-missing", aggregated, func() reference.Flaw {
		return reference.Flaw{Request: func(_ *reference.Client, q proto.Message) []proto.Message {
			if rejects(q) && get(q, "type_url") == reference.Listeners {
				other := clone(q)
				set(other, "type_url", "")
				set(other, "response_nonce", "")
				other.ProtoReflect().Clear(field(other, "error_detail"))
				if f := field(other, "version_info"); f != nil {
					other.ProtoReflect().Clear(f)
				}
				return []proto.Message{q, other}
			}
			return one(q)
		}}
	}},
	{"request-type-differs", separate, requests(func(_ *reference.Client, q proto.Message) {
		if get(q, "type_url") == reference.Listeners {
			set(q, "type_url", reference.Routes)
		}
	})},
	{"ack-version", sotw, func() reference.Flaw {
		answered := map[string]bool{}
		return requests(func(_ *reference.Client, q proto.Message) {
			nonce := get(q, "response_nonce")
			if nonce != "" && !answered[nonce] && !rejects(q) && get(q, "type_url") == reference.Endpoints {
				set(q, "version_info", "other")
			}
			answered[nonce] = true
		})()
	}},
	{"nack-version", sotw, func() reference.Flaw {
		rejected := map[string]string{}
		return reference.Flaw{
			Judge: func(_ *reference.Client, p proto.Message, why string) string {
				rejected[get(p, "type_url")] = get(p, "version_info")
				return why
			},
			Request: func(_ *reference.Client, q proto.Message) []proto.Message {
				if rejects(q) {
					set(q, "version_info", rejected[get(q, "type_url")])
				}
				return one(q)
			},
		}
	}},
	{"nack-without-reason", nil, requests(func(_ *reference.Client, q proto.Message) {
		if rejects(q) {
			q.ProtoReflect().Mutable(field(q, "error_detail")).Message().Clear(field(failure, "message"))
		}
	})},
	{"nack-unnamed", delta, requests(func(_ *reference.Client, q proto.Message) {
		if rejects(q) {
			set(q.ProtoReflect().Mutable(field(q, "error_detail")).Message().Interface(), "message", "something is wrong")
		}
	})},
	{"nack-unsubscribes", aggregated, requests(func(_ *reference.Client, q proto.Message) {
		if !rejects(q) || get(q, "type_url") != reference.Endpoints {
			return
		}
		switch q := q.(type) {
		case *discoveryv3.DiscoveryRequest:
			q.ResourceNames = q.ResourceNames[:1]
		case *discoveryv3.DeltaDiscoveryRequest:
			q.ResourceNamesUnsubscribe = []string{"xdslint-conform-b"}
		}
	})},
	{"answer-missing", nil, dropping(func(p proto.Message) bool {
		return get(p, "type_url") == reference.Endpoints && nothingIn(p)
	})},
	{"nonce-forgotten", sotw, changing(func(_ *reference.Client, q proto.Message) { set(q, "response_nonce", "") })},
	{"request-version", sotw, changing(func(_ *reference.Client, q proto.Message) { set(q, "version_info", "other") })},
	{"nonce-without-answer", delta, func() reference.Flaw {
		last := map[string]string{}
		return reference.Flaw{Request: func(_ *reference.Client, q proto.Message) []proto.Message {
			url := get(q, "type_url")
			if nonce := get(q, "response_nonce"); nonce != "" {
				last[url] = nonce
			} else if len(q.(*discoveryv3.DeltaDiscoveryRequest).GetInitialResourceVersions()) > 0 {
				last[url] = ""
			} else {
				set(q, "response_nonce", last[url])
			}
			return one(q)
		}}
	}},
	{"initial-versions-late", delta, requests(func(_ *reference.Client, q proto.Message) {
		if acks(q) {
			q.(*discoveryv3.DeltaDiscoveryRequest).InitialResourceVersions = map[string]string{"xdslint-conform-a": "1"}
		}
	})},
	{"nonce-on-first-request", nil, requests(func(_ *reference.Client, q proto.Message) {
		if q.ProtoReflect().Has(field(q, "node")) && !acks(q) {
			set(q, "response_nonce", "old")
		}
	})},
	{"duplicate-name-accepted", nil, lenient(func(why string) bool { return strings.Contains(why, "twice") || strings.Contains(why, "removed") })},
	{"resource-type-accepted", nil, lenient(func(why string) bool { return strings.Contains(why, "foreign") })},
	{"unrequested-type-answered", aggregated, func() reference.Flaw { return reference.Flaw{Answers: true} }},
	{"unrequested-resource-rejected", nil, strict(func(p proto.Message) bool {
		return !nothingIn(p) && strings.Contains(text(p), "xdslint-conform-extra")
	})},
	{"heartbeat-rejected", nil, strict(heartbeats)},
	{"wrapped-resource-rejected", sotw, strict(func(p proto.Message) bool {
		return strings.Contains(text(p), "[type.googleapis.com/envoy.service.discovery.v3.Resource]") && !strings.Contains(text(p), "ttl:")
	})},
	{"deletion-rejected", nil, strict(func(p proto.Message) bool { return get(p, "type_url") == reference.Endpoints && nothingIn(p) })},
	{"stream-ended", nil, func() reference.Flaw {
		return reference.Flaw{Ends: func(why string) bool { return strings.Contains(why, "foreign") }}
	}},
	{"reconnect-missing", nil, func() reference.Flaw {
		return reference.Flaw{Returns: func(s *reference.Subscription) bool {
			return s.Type != reference.Listeners || s.Version == "" && len(s.Versions) == 0
		}}
	}},
	{"reconnect-names-lost", nil, func() reference.Flaw {
		const lost = "xdslint-conform-b"
		forgets := false
		without := func(names []string) []string {
			return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == lost })
		}
		return requests(func(_ *reference.Client, q proto.Message) {
			if get(q, "type_url") != reference.Endpoints {
				return
			}
			switch q := q.(type) {
			case *discoveryv3.DiscoveryRequest:
				forgets = forgets || q.GetResponseNonce() == "" && q.GetVersionInfo() != ""
				if forgets {
					q.ResourceNames = without(q.ResourceNames)
				}
			case *discoveryv3.DeltaDiscoveryRequest:
				forgets = forgets || len(q.GetInitialResourceVersions()) > 0
				if forgets {
					q.ResourceNamesSubscribe = without(q.ResourceNamesSubscribe)
					delete(q.InitialResourceVersions, lost)
				}
			}
		})()
	}},
	{"reconnect-without-versions", nil, func() reference.Flaw {
		return reference.Flaw{Returns: func(s *reference.Subscription) bool {
			s.Version, s.Versions = "", map[string]string{}
			return true
		}}
	}},
	{"reconnect-loop", nil, func() reference.Flaw { return reference.Flaw{Restless: true} }},
}

func aggregated(v variant) bool { return v.aggregated }
func separate(v variant) bool   { return !v.aggregated }

// requests is a flaw in some requests.
func requests(f func(*reference.Client, proto.Message)) func() reference.Flaw {
	return func() reference.Flaw {
		return reference.Flaw{Request: func(c *reference.Client, q proto.Message) []proto.Message {
			f(c, q)
			return one(q)
		}}
	}
}

// acks reports whether a request has a nonce.
func acks(q proto.Message) bool { return get(q, "response_nonce") != "" }

// changing is a flaw in the requests of SotW that are not answers, and not the first of their type.
func changing(f func(*reference.Client, proto.Message)) func() reference.Flaw {
	return func() reference.Flaw {
		answered := map[string]bool{}
		return requests(func(c *reference.Client, q proto.Message) {
			nonce := get(q, "response_nonce")
			if nonce != "" && answered[nonce] {
				f(c, q)
			}
			answered[nonce] = true
		})()
	}
}

// dropping is a client that does not answer some responses.
func dropping(f func(p proto.Message) bool) func() reference.Flaw {
	return func() reference.Flaw {
		drop := map[string]bool{}
		return reference.Flaw{
			Judge: func(_ *reference.Client, p proto.Message, why string) string {
				drop[get(p, "nonce")] = f(p)
				return why
			},
			Request: func(_ *reference.Client, q proto.Message) []proto.Message {
				if drop[get(q, "response_nonce")] {
					return nil
				}
				return one(q)
			},
		}
	}
}

// lenient is a client that accepts what it should reject.
func lenient(f func(why string) bool) func() reference.Flaw {
	return func() reference.Flaw {
		return reference.Flaw{Judge: func(_ *reference.Client, _ proto.Message, why string) string {
			if f(why) {
				return ""
			}
			return why
		}}
	}
}

// strict is a client that rejects what it should accept.
func strict(f func(p proto.Message) bool) func() reference.Flaw {
	return func() reference.Flaw {
		return reference.Flaw{Judge: func(_ *reference.Client, p proto.Message, why string) string {
			if why == "" && f(p) {
				return "xdslint-conform-a is not what the client likes"
			}
			return why
		}}
	}
}

func text(p proto.Message) string { return fmt.Sprint(p) }

// nothingIn reports whether a response has no resources.
func nothingIn(p proto.Message) bool {
	return p.ProtoReflect().Get(field(p, "resources")).List().Len() == 0
}

// heartbeats reports whether a response has resources without a content.
func heartbeats(p proto.Message) bool {
	switch p := p.(type) {
	case *discoveryv3.DeltaDiscoveryResponse:
		return slices.ContainsFunc(p.GetResources(), func(r *discoveryv3.Resource) bool { return r.GetResource() == nil })
	case *discoveryv3.DiscoveryResponse:
		for _, body := range p.GetResources() {
			r := &discoveryv3.Resource{}
			if body.MessageIs(r) && body.UnmarshalTo(r) == nil && r.GetResource() == nil {
				return true
			}
		}
	}
	return false
}

// TestClientsWithFlaws: each flaw of the client is found, by its clause and no other. Without the long tests, it is every fourth of them.
func TestClientsWithFlaws(t *testing.T) {
	for i, m := range clientMutants {
		if testing.Short() && i%4 != 0 {
			continue
		}
		t.Run(m.clause, func(t *testing.T) {
			t.Parallel()
			for _, v := range variants {
				if m.only != nil && !m.only(v) || testing.Short() && !v.aggregated {
					continue
				}
				t.Run(v.String(), func(t *testing.T) {
					t.Parallel()
					clientBreaksOnly(t, v, m.clause, m.flaw)
				})
			}
		})
	}
}

// clientBreaksOnly tests a client, with more patience if something else is found: a busy machine is late.
func clientBreaksOnly(t *testing.T, v variant, clause string, flaw func() reference.Flaw) {
	var wrong []string
	for wait := 5 * time.Second; wait < 2*time.Minute; wait *= 4 {
		wrong = nil
		found := false
		for _, c := range judge(t, v, flaw(), wait).Clauses {
			if c.Status != conform.Broken {
				continue
			}
			if c.Clause == "protocol/"+clause {
				found = true
				continue
			}
			wrong = append(wrong, fmt.Sprintf("%s: %s\n%s", c, c.Evidence[0].Scenario, c.Evidence[0].Recorded))
		}
		if !found {
			wrong = append(wrong, "it is not found")
		}
		if wrong == nil {
			return
		}
	}
	t.Error(strings.Join(wrong, "\n"))
}
