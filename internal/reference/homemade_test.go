package reference_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// homemade are flaws of control planes that were seen in the wild.
var homemade = []mutant{
	// The version of the configuration is the nonce (Cilium): a new name at the same version is answered with the same.
	{"nonce-reused", sotw, each(nonced(reference.Endpoints, func(p proto.Message) string { return "v" + version(p) }))},
	// A wildcard is taken for a name (java-control-plane).
	{"unsubscription-unanswered", delta, each(starless)},
	// What a wildcard and a name select is sent once for each (go-control-plane).
	{"duplicate-name", nil, each(selectedTwice)},
	// All resources have the version of their type, and are sent when it changes.
	{"new-version-same-content", delta, each(typed)},
	// What is newly asked for is only sent if the version has changed (Cilium). Over an aggregated stream, it also breaks endpoints-not-resent.
	{"new-request-unanswered", func(v variant) bool { return !v.delta && !v.aggregated }, each(sameVersion)},
	// Endpoints are pushed with the clusters, before the client asks for them.
	{"response-unrequested", func(v variant) bool { return v.aggregated && !v.delta }, each(eager)},
	// Types are named without type.googleapis.com/.
	{"response-type-differs", func(v variant) bool { return !v.aggregated }, each(before(reference.Listeners, bareType))},
	// No response about routes has a type, so none answers a request.
	{"response-type-missing", nil, each(edit(func(p proto.Message) []proto.Message {
		if get(p, "type_url") == reference.Routes {
			set(p, "type_url", "")
		}
		return one(p)
	}))},
}

func version(p proto.Message) string {
	if d, ok := p.(*discoveryv3.DeltaDiscoveryResponse); ok {
		return d.GetSystemVersionInfo()
	}
	return get(p, "version_info")
}

// nonced is a flaw that gives all responses of a type another nonce.
func nonced(typeURL string, nonce func(p proto.Message) string) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		alias, right := "", ""
		return &altered{
			Session: s,
			out: func(p proto.Message) []proto.Message {
				if get(p, "type_url") == typeURL {
					p = proto.Clone(p)
					alias, right = nonce(p), get(p, "nonce")
					set(p, "nonce", alias)
				}
				return one(p)
			},
			in: func(next reference.Session, q proto.Message) []proto.Message {
				if get(q, "type_url") != typeURL {
					return next.Request(q)
				}
				return next.Request(corrected(q, alias, right))
			},
		}
	}
}

// starless takes * for a name.
func starless(s reference.Session) reference.Session {
	star := func(name string) bool { return name == "*" }
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
		d.ResourceNamesSubscribe = slices.DeleteFunc(d.ResourceNamesSubscribe, star)
		d.ResourceNamesUnsubscribe = slices.DeleteFunc(d.ResourceNamesUnsubscribe, star)
		return next.Request(d)
	}}
}

// selectedTwice sends a resource twice that a wildcard and a name select.
func selectedTwice(s reference.Session) reference.Session {
	var last []string
	return &altered{
		Session: s,
		in: func(next reference.Session, q proto.Message) []proto.Message {
			if get(q, "type_url") == reference.Clusters {
				last = names(q)
			}
			return next.Request(q)
		},
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") == reference.Clusters && len(last) > 1 && slices.Contains(last, "*") {
				return twice(proto.Clone(p))
			}
			return one(p)
		},
	}
}

// bareType names the type without its prefix.
func bareType(p proto.Message) {
	set(p, "type_url", strings.TrimPrefix(get(p, "type_url"), "type.googleapis.com/"))
}

// eager sends endpoints before the first response about clusters.
func eager(s reference.Session) reference.Session {
	return before(reference.Clusters, func(p proto.Message) {
		body, _ := anypb.New(assignment("books", 8080)) // a message can be packed
		d := p.(*discoveryv3.DiscoveryResponse)
		d.TypeUrl, d.Resources = reference.Endpoints, []*anypb.Any{body}
	})(s)
}

// removedForever removes names again that were removed before.
func removedForever(s reference.Session) reference.Session {
	var removed []string
	return edit(func(p proto.Message) []proto.Message {
		d := p.(*discoveryv3.DeltaDiscoveryResponse)
		if d.GetTypeUrl() != reference.Clusters {
			return one(p)
		}
		for _, r := range d.GetResources() {
			removed = slices.DeleteFunc(removed, func(name string) bool { return name == r.GetName() })
		}
		now := d.RemovedResources
		d.RemovedResources = slices.Concat(now, removed)
		removed = slices.Concat(removed, now)
		return one(p)
	})(s)
}

// typed sends a cluster with a new version when another one changes.
func typed(s reference.Session) reference.Session {
	var books *discoveryv3.Resource
	return edit(func(p proto.Message) []proto.Message {
		d := p.(*discoveryv3.DeltaDiscoveryResponse)
		if d.GetTypeUrl() != reference.Clusters || len(d.GetResources()) == 0 {
			return one(p)
		}
		if i := slices.IndexFunc(d.GetResources(), func(r *discoveryv3.Resource) bool { return r.GetName() == "books" }); i >= 0 {
			books = clone(d.GetResources()[i])
		} else if books != nil {
			books = clone(books)
			books.Version += "a"
			d.Resources = append(d.Resources, books)
		}
		return one(p)
	})(s)
}

// sameVersion does not answer a request of SotW for more endpoints at the version that it has sent.
func sameVersion(s reference.Session) reference.Session {
	sent := ""
	return withholding(s, reference.Endpoints, func(p proto.Message) proto.Message {
		if version(p) == sent {
			return nil
		}
		sent = version(p)
		return p
	})
}

// inParts sends the endpoints that have not changed again, before those that have.
func inParts(s reference.Session) reference.Session {
	sent := map[string]*anypb.Any{}
	var wanted []string
	return &altered{
		Session: s,
		in: func(next reference.Session, q proto.Message) []proto.Message {
			if get(q, "type_url") == reference.Endpoints {
				wanted = names(q)
			}
			return next.Request(q)
		},
		out: func(p proto.Message) []proto.Message {
			d := p.(*discoveryv3.DiscoveryResponse)
			if d.GetTypeUrl() != reference.Endpoints {
				return one(p)
			}
			for _, body := range d.GetResources() {
				var a endpointv3.ClusterLoadAssignment
				_ = body.UnmarshalTo(&a) // it is one
				sent[a.GetClusterName()] = body
			}
			before := &discoveryv3.DiscoveryResponse{TypeUrl: d.GetTypeUrl(), VersionInfo: d.GetVersionInfo(), Nonce: "+" + d.GetNonce()}
			for _, name := range slices.Sorted(maps.Keys(sent)) {
				if body := sent[name]; slices.Contains(wanted, name) && !slices.Contains(d.GetResources(), body) {
					before.Resources = append(before.Resources, body)
				}
			}
			if before.Resources == nil {
				return one(p)
			}
			return []proto.Message{before, p}
		},
	}
}

// resumes does not send endpoints to a client that returns with the version that they have.
func resumes(s reference.Session) reference.Session {
	known := ""
	a := withholding(s, reference.Endpoints, func(p proto.Message) proto.Message {
		if version(p) == known {
			return nil
		}
		known = ""
		return p
	})
	in, first := a.in, true
	a.in = func(next reference.Session, q proto.Message) []proto.Message {
		if get(q, "type_url") == reference.Endpoints && first {
			known, first = get(q, "version_info"), false
		}
		return in(next, q)
	}
	return a
}

// permitted are ways in which servers differ, and keep the protocol.
var permitted = []mutant{
	{"types that share a nonce", nil, each(nonced(reference.Endpoints, func(p proto.Message) string { return get(p, "nonce") + "0" }))},
	{"no system_version_info", delta, each(edit(func(p proto.Message) []proto.Message {
		p.(*discoveryv3.DeltaDiscoveryResponse).SystemVersionInfo = ""
		return one(p)
	}))},
	{"names that are removed with each later response", delta, each(removedForever)},
	{"an answer in several responses", nil, each(batched)},
	{"all endpoints with each change, in two responses", sotw, each(inParts)},
	{"unsubscriptions that are answered with removals", delta, each(removes)},
	{"a client that returns with the version of the type gets nothing", sotw, each(resumes)},
	{"versions that are hashes", sotw, each(edit(func(p proto.Message) []proto.Message {
		set(p, "version_info", "hash-"+get(p, "version_info"))
		return one(p)
	}))},
}

// TestPermitted: nothing is found in them.
func TestPermitted(t *testing.T) {
	for _, m := range permitted {
		inVariants(t, m.clause, m.only, func(h *harness) {
			m.wrap(h)
			h.play()
			for clause, message := range h.judge() {
				h.t.Errorf("%s: %s", clause, message)
			}
		})
	}
}

// typeVersions gives all resources of Delta the version of their type. It knows what had which.
func typeVersions() func(reference.Session) reference.Session {
	own := map[[2]string]string{} // by name and version
	return func(s reference.Session) reference.Session {
		return &altered{
			Session: s,
			in: func(next reference.Session, q proto.Message) []proto.Message {
				d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
				for name, v := range d.GetInitialResourceVersions() {
					d.InitialResourceVersions[name] = own[[2]string{name, v}]
				}
				return next.Request(d)
			},
			out: func(p proto.Message) []proto.Message {
				d := clone(p.(*discoveryv3.DeltaDiscoveryResponse))
				for _, r := range d.GetResources() {
					own[[2]string{r.GetName(), d.GetSystemVersionInfo()}] = r.GetVersion()
					r.Version = d.GetSystemVersionInfo()
				}
				return one(d)
			},
		}
	}
}

// TestTypeVersions: a client that returns has the newest content, although another one gets it with a newer version.
func TestTypeVersions(t *testing.T) {
	inVariants(t, "versions of the type", delta, func(h *harness) {
		mutant{flaw: typeVersions}.wrap(h)
		h.set("shop", cluster("shop", 1))
		h.set("cart", cluster("cart", 1))
		c := h.client("edge-1")
		c.subscribe(reference.Clusters)
		c.close()
		h.set("cart", cluster("cart", 2))
		c.reconnect()
		h.client("edge-1").subscribe(reference.Clusters)
		h.wait(20 * time.Second)
		h.client("edge-1").subscribe(reference.Clusters)
		for clause, message := range h.judge() {
			h.t.Errorf("%s: %s", clause, message)
		}
	})
}
