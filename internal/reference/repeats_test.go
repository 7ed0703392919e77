package reference_test

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/durationpb"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// sameNonce gives all responses about endpoints the same nonce.
func sameNonce(s reference.Session) reference.Session {
	right := ""
	return &altered{
		Session: s,
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") == reference.Endpoints {
				p = proto.Clone(p)
				right = get(p, "nonce")
				set(p, "nonce", "same")
			}
			return one(p)
		},
		in: func(next reference.Session, q proto.Message) []proto.Message {
			return next.Request(corrected(q, "same", right))
		},
	}
}

// corrected replaces a nonce that the session does not know.
func corrected(q proto.Message, alias, right string) proto.Message {
	if alias == "" || get(q, "response_nonce") != alias {
		return q
	}
	q = proto.Clone(q)
	set(q, "response_nonce", right)
	return q
}

// answersStale answers a request with a stale nonce with the last response once more.
func answersStale(s reference.Session) reference.Session {
	var last proto.Message
	right, alias := "", ""
	return &altered{
		Session: s,
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") == reference.Endpoints && get(p, "nonce") != alias {
				last, right, alias = p, get(p, "nonce"), ""
			}
			return one(p)
		},
		in: func(next reference.Session, q proto.Message) []proto.Message {
			switch nonce := get(q, "response_nonce"); {
			case get(q, "type_url") != reference.Endpoints || nonce == "":
			case alias != "" && nonce == right:
				return nil // the answer to the repetition counts
			case alias == "" && nonce != right:
				alias = "again-" + right
				p := proto.Clone(last)
				set(p, "nonce", alias)
				return one(p)
			}
			return next.Request(corrected(q, alias, right))
		},
	}
}

// beats sends a heartbeat of a route configuration with another version, after the ACK of it.
func beats(s reference.Session) reference.Session {
	var name, right string
	sent, answered := false, false
	return &altered{
		Session: s,
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") != reference.Routes || sent {
				return one(p)
			}
			right = get(p, "nonce")
			var r routev3.RouteConfiguration
			switch p := p.(type) {
			case *discoveryv3.DiscoveryResponse:
				if len(p.GetResources()) > 0 && p.GetResources()[0].UnmarshalTo(&r) == nil {
					name = r.GetName()
				}
			case *discoveryv3.DeltaDiscoveryResponse:
				if len(p.GetResources()) > 0 {
					name = p.GetResources()[0].GetName()
				}
			}
			return one(p)
		},
		in: func(next reference.Session, q proto.Message) []proto.Message {
			if get(q, "type_url") != reference.Routes {
				return next.Request(q)
			}
			if get(q, "response_nonce") == "beat" && !answered {
				answered = true
				return nil
			}
			out := next.Request(corrected(q, "beat", right))
			if sent || name == "" || get(q, "response_nonce") == "" || len(out) > 0 {
				return out
			}
			sent = true
			beat := &discoveryv3.Resource{Name: name, Version: "other", Ttl: durationpb.New(60e9)}
			if _, ok := q.(*discoveryv3.DeltaDiscoveryRequest); ok {
				return append(out, &discoveryv3.DeltaDiscoveryResponse{TypeUrl: reference.Routes, Nonce: "beat", Resources: []*discoveryv3.Resource{beat}})
			}
			body, _ := anypb.New(beat)
			return append(out, &discoveryv3.DiscoveryResponse{TypeUrl: reference.Routes, Nonce: "beat", VersionInfo: get(q, "version_info"), Resources: []*anypb.Any{body}})
		},
	}
}

// chatter sends the last response about listeners again with each change.
type chatter struct {
	*altered
	again func() []proto.Message
}

func (c *chatter) Changed() []proto.Message { return append(c.altered.Changed(), c.again()...) }

// chattering returns a chatter. The version of what is sent again has a suffix.
func chattering(s reference.Session, suffix string) reference.Session {
	var last proto.Message
	right, alias, asked := "", "", ""
	return &chatter{
		&altered{
			Session: s,
			out: func(p proto.Message) []proto.Message {
				if get(p, "type_url") == reference.Listeners {
					last, right, alias = p, get(p, "nonce"), ""
				}
				return one(p)
			},
			in: func(next reference.Session, q proto.Message) []proto.Message {
				if get(q, "type_url") != reference.Listeners {
					return next.Request(q)
				}
				asked = get(q, "response_nonce")
				if alias != "" && asked == alias && len(names(q)) == 0 {
					return nil // the session has its answer
				}
				return next.Request(corrected(q, alias, right))
			},
		},
		func() []proto.Message {
			if last == nil || asked != right && asked != alias {
				return nil
			}
			alias += "again-" + right
			p := proto.Clone(last)
			set(p, "nonce", alias)
			suffixed(p, suffix)
			last = p
			return one(p)
		},
	}
}

// suffixed changes the versions of a response.
func suffixed(p proto.Message, suffix string) {
	switch p := p.(type) {
	case *discoveryv3.DiscoveryResponse:
		p.VersionInfo += suffix
	case *discoveryv3.DeltaDiscoveryResponse:
		for _, r := range p.GetResources() {
			r.Version += suffix
		}
	}
}
