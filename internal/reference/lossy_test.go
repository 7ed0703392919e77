package reference_test

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// onlyOnce does something to the first response that it changes.
func onlyOnce(f func(proto.Message) proto.Message) func(proto.Message) proto.Message {
	done := false
	return func(p proto.Message) proto.Message {
		if done {
			return p
		}
		left := f(proto.Clone(p))
		done = left == nil || !proto.Equal(left, p)
		return left
	}
}

// lossy is a flaw that withholds parts of responses from the first client that asks for a type.
func lossy(typeURL string, f func(p proto.Message) proto.Message) func() func(reference.Session) reference.Session {
	return func() func(reference.Session) reference.Session {
		asked := 0
		return func(s reference.Session) reference.Session {
			me := 0
			a := withholding(s, typeURL, func(p proto.Message) proto.Message {
				if me != 1 {
					return p
				}
				return f(p)
			})
			in := a.in
			a.in = func(next reference.Session, q proto.Message) []proto.Message {
				if get(q, "type_url") == typeURL && me == 0 {
					asked++
					me = asked
				}
				return in(next, q)
			}
			return a
		}
	}
}

// withholding is a session that withholds parts of responses of a type. f returns what is left of a copy, nil if nothing is.
// The session believes that the client has it.
func withholding(s reference.Session, typeURL string, f func(p proto.Message) proto.Message) *altered {
	var last proto.Message
	delivered, right := "", "" // the last nonces that the client and the session know
	a := &altered{Session: s}
	a.in = func(next reference.Session, q proto.Message) []proto.Message {
		if get(q, "type_url") == typeURL {
			last = q
			if nonce := get(q, "response_nonce"); nonce != "" && nonce == delivered && delivered != right {
				q = proto.Clone(q)
				set(q, "response_nonce", right)
			}
		}
		return next.Request(q)
	}
	a.out = func(p proto.Message) []proto.Message {
		if get(p, "type_url") != typeURL {
			return one(p)
		}
		right = get(p, "nonce")
		if left := f(proto.Clone(p)); left != nil {
			delivered = right
			return one(left)
		}
		return a.all(s.Request(ack(last, p))) // what it answers to an ACK that it needs
	}
	return a
}

// ack returns the ACK of a response, by a client whose last request is q.
func ack(q, p proto.Message) proto.Message {
	if d, ok := p.(*discoveryv3.DeltaDiscoveryResponse); ok {
		return &discoveryv3.DeltaDiscoveryRequest{TypeUrl: d.GetTypeUrl(), ResponseNonce: d.GetNonce()}
	}
	d := clone(q.(*discoveryv3.DiscoveryRequest))
	d.VersionInfo, d.ResponseNonce = get(p, "version_info"), get(p, "nonce")
	return d
}

// without removes the endpoints of a cluster at a port from a response.
func without(name string, port uint32) func(p proto.Message) proto.Message {
	lost := func(body *anypb.Any) bool {
		var a endpointv3.ClusterLoadAssignment
		return body.UnmarshalTo(&a) == nil && a.GetClusterName() == name &&
			a.Endpoints[0].LbEndpoints[0].GetEndpoint().GetAddress().GetSocketAddress().GetPortValue() == port
	}
	return func(p proto.Message) proto.Message { return reduced(p, lost) }
}

// reduced removes resources from a response. It returns nothing if nothing is left.
func reduced(p proto.Message, lost func(*anypb.Any) bool) proto.Message {
	left := 0
	switch p := p.(type) {
	case *discoveryv3.DiscoveryResponse:
		p.Resources = slices.DeleteFunc(p.Resources, lost)
		left = len(p.Resources)
	case *discoveryv3.DeltaDiscoveryResponse:
		p.Resources = slices.DeleteFunc(p.Resources, func(r *discoveryv3.Resource) bool { return lost(r.GetResource()) })
		left = len(p.Resources) + len(p.RemovedResources)
	}
	if left == 0 {
		return nil
	}
	return p
}

// keeps does not remove a cluster.
func keeps(p proto.Message) proto.Message {
	d := p.(*discoveryv3.DeltaDiscoveryResponse)
	d.RemovedResources = slices.DeleteFunc(d.RemovedResources, func(name string) bool { return name == "stock" })
	if len(d.Resources)+len(d.RemovedResources) == 0 {
		return nil
	}
	return d
}

// remembers does not send endpoints that it has sent before and that have not changed.
func remembers() func(reference.Session) reference.Session {
	sent := 0
	return lossy(reference.Endpoints, func(p proto.Message) proto.Message {
		if left := without("cart", 8080)(proto.Clone(p)); left == nil || !proto.Equal(left, p) {
			if sent++; sent > 1 {
				return left
			}
		}
		return p
	})()
}

// ignoresKnown sends what a client has from an earlier stream. It does hear of what one has that is removed since.
func ignoresKnown(s reference.Session) reference.Session {
	return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
		d := clone(q.(*discoveryv3.DeltaDiscoveryRequest))
		if d.GetTypeUrl() == reference.Clusters && d.GetNode().GetId() != returning {
			d.InitialResourceVersions = nil
		}
		return next.Request(d)
	}}
}
