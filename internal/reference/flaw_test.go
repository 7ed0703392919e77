package reference_test

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

var web = &routev3.RouteConfiguration{Name: "web"}

// before sends an altered copy before the first response of a type. The client ignores it.
func before(typeURL string, f func(proto.Message)) func(reference.Session) reference.Session {
	return once(typeURL, 1, func(p proto.Message) []proto.Message {
		extra := proto.Clone(p)
		set(extra, "nonce", "extra")
		f(extra)
		return []proto.Message{extra, p}
	})
}

// again sends the last response about clusters a few times more, after the requests that f selects.
func again(f func(q proto.Message) bool) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		var last proto.Message
		right, alias, count := "", "", 0
		return &altered{
			Session: s,
			out: func(p proto.Message) []proto.Message {
				if get(p, "type_url") == reference.Clusters && get(p, "nonce") != alias {
					last, right, alias = p, get(p, "nonce"), ""
				}
				return one(p)
			},
			in: func(next reference.Session, q proto.Message) []proto.Message {
				answer := last != nil && get(q, "type_url") == reference.Clusters && get(q, "response_nonce") != "" &&
					(get(q, "response_nonce") == right || get(q, "response_nonce") == alias)
				if !answer || !f(q) || len(names(q)) > 0 || count == 5 {
					if answer && alias != "" {
						q = proto.Clone(q)
						set(q, "response_nonce", right)
					}
					return next.Request(q)
				}
				count++
				alias = fmt.Sprintf("again-%d", count)
				p := proto.Clone(last)
				set(p, "nonce", alias)
				return one(p)
			},
		}
	}
}

// bumped sends a new version of the routes that have not changed.
func bumped(s reference.Session) reference.Session {
	done := false
	var last proto.Message
	return &altered{
		Session: s,
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") == reference.Listeners {
				last = p
			}
			return one(p)
		},
		in: func(next reference.Session, q proto.Message) []proto.Message {
			if done || last == nil || get(q, "type_url") != reference.Listeners || get(q, "response_nonce") == "" {
				return next.Request(q)
			}
			done = true
			p := proto.Clone(last)
			set(p, "nonce", "bumped")
			switch p := p.(type) {
			case *discoveryv3.DiscoveryResponse:
				p.VersionInfo += "a"
			case *discoveryv3.DeltaDiscoveryResponse:
				for _, r := range p.Resources {
					r.Version += "a"
				}
			}
			return one(p)
		},
	}
}

// emptyIsAll takes a client that unsubscribes from its last name of a type for one that wants everything.
func emptyIsAll(typeURL string) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		explicit, left := false, map[string]bool{}
		return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
			if get(q, "type_url") != typeURL {
				return next.Request(q)
			}
			q = proto.Clone(q)
			switch q := q.(type) {
			case *discoveryv3.DiscoveryRequest:
				if explicit && len(q.GetResourceNames()) == 0 {
					q.ResourceNames = []string{"*"}
				}
				explicit = explicit || len(q.GetResourceNames()) > 0
			case *discoveryv3.DeltaDiscoveryRequest:
				for _, name := range q.GetResourceNamesSubscribe() {
					left[name], explicit = true, true
				}
				for _, name := range q.GetResourceNamesUnsubscribe() {
					delete(left, name)
				}
				if explicit && len(left) == 0 && len(q.GetResourceNamesUnsubscribe()) > 0 {
					q.ResourceNamesSubscribe = []string{"*"}
				}
			}
			return next.Request(q)
		}}
	}
}

// forgetful does not unsubscribe.
func forgetful(s reference.Session) reference.Session {
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
		if d.GetTypeUrl() == reference.Endpoints {
			d.ResourceNamesUnsubscribe = nil
		}
		return next.Request(d)
	}}
}

// partial answers a client that names one more cluster with only this one.
func partial(s reference.Session) reference.Session {
	var known, more []string
	done := false
	return &altered{
		Session: s,
		in: func(next reference.Session, q proto.Message) []proto.Message {
			if all := names(q); get(q, "type_url") == reference.Clusters && !slices.Contains(all, "*") {
				more = slices.DeleteFunc(all, func(name string) bool { return slices.Contains(known, name) })
				known = names(q)
			}
			return next.Request(q)
		},
		out: func(p proto.Message) []proto.Message {
			d := clone(p.(*discoveryv3.DiscoveryResponse))
			if !done && d.GetTypeUrl() == reference.Clusters && len(known) > 1 && len(more) > 0 {
				d.Resources = slices.DeleteFunc(d.Resources, func(r *anypb.Any) bool {
					var c clusterv3.Cluster
					return r.UnmarshalTo(&c) != nil || !slices.Contains(more, c.GetName())
				})
				done = true
			}
			return one(d)
		},
	}
}

// emptied sends an empty response when the client unsubscribes from endpoints, to delete them.
func emptied(s reference.Session) reference.Session {
	done, right := false, ""
	return &altered{
		Session: s,
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") == reference.Routes {
				right = get(p, "nonce")
			}
			return one(p)
		},
		in: func(next reference.Session, q proto.Message) []proto.Message {
			if get(q, "type_url") != reference.Routes || get(q, "response_nonce") == "" {
				return next.Request(q)
			}
			if done {
				q = proto.Clone(q)
				set(q, "response_nonce", right)
				return next.Request(q)
			}
			done = true
			return one(&discoveryv3.DiscoveryResponse{TypeUrl: reference.Routes, VersionInfo: "none", Nonce: "empty"})
		},
	}
}

// mute does not answer the request for listeners.
func mute(s reference.Session) reference.Session {
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		if get(q, "type_url") == reference.Listeners {
			return nil
		}
		return next.Request(q)
	}}
}

// silent does not hear of names of endpoints.
func silent(f func(name string) bool) func(reference.Session) reference.Session {
	return func(s reference.Session) reference.Session {
		return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
			d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
			if d.GetTypeUrl() == reference.Endpoints {
				d.ResourceNamesSubscribe = slices.DeleteFunc(d.ResourceNamesSubscribe, f)
			}
			return next.Request(d)
		}}
	}
}

// heedless does not answer a subscription to what it has sent.
func heedless(s reference.Session) reference.Session {
	sent := map[string]bool{}
	return &altered{
		Session: s,
		out: func(p proto.Message) []proto.Message {
			for _, r := range p.(*discoveryv3.DeltaDiscoveryResponse).GetResources() {
				sent[get(p, "type_url")+r.GetName()] = true
			}
			return one(p)
		},
		in: func(next reference.Session, q proto.Message) []proto.Message {
			d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
			d.ResourceNamesSubscribe = slices.DeleteFunc(d.ResourceNamesSubscribe, func(name string) bool {
				return name == "shop" && sent[d.GetTypeUrl()+name]
			})
			return next.Request(d)
		},
	}
}

// unclear does not say whether a wildcard includes a name.
func unclear(s reference.Session) reference.Session {
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
		if d.GetTypeUrl() == reference.Clusters && slices.Contains(d.ResourceNamesSubscribe, "*") {
			d.ResourceNamesSubscribe = []string{"*"}
		}
		return next.Request(d)
	}}
}

// ignoresRepeats does not answer a client that asks for endpoints once more.
func ignoresRepeats(s reference.Session) reference.Session {
	var before []string
	answered := ""
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		if get(q, "type_url") != reference.Endpoints {
			return next.Request(q)
		}
		all := names(q)
		slices.Sort(all) // Envoy names them in any order
		same := slices.Equal(before, all) && answered == get(q, "response_nonce")
		before, answered = all, get(q, "response_nonce")
		if same {
			return nil
		}
		return next.Request(q)
	}}
}

// unprompted does not send endpoints again that have not changed, unless a client of Delta subscribes to them.
func unprompted(s reference.Session) reference.Session {
	asked, sent := map[string]bool{}, map[string]string{}
	a := withholding(s, reference.Endpoints, func(p proto.Message) proto.Message {
		return keep(p, func(name, content string) bool {
			due := asked[name] || sent[name] != content
			asked[name], sent[name] = false, content
			return due
		})
	})
	in := a.in
	a.in = func(next reference.Session, q proto.Message) []proto.Message {
		if get(q, "type_url") == reference.Endpoints {
			for _, name := range names(q) {
				asked[name] = true
			}
		}
		return in(next, q)
	}
	return a
}
