package reference

import (
	"fmt"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// received is a resource of a response. Without a body, it is a heartbeat.
type received struct {
	name string
	body *anypb.Any
	bad  error // it cannot be read
}

// resources returns the resources of a response.
func resources(m proto.Message) (all []received) {
	switch p := m.(type) {
	case *discoveryv3.DeltaDiscoveryResponse:
		for _, r := range p.GetResources() {
			all = append(all, received{name: r.GetName(), body: r.GetResource()})
		}
	case *discoveryv3.DiscoveryResponse:
		for _, body := range p.GetResources() {
			r := &discoveryv3.Resource{}
			if body.MessageIs(r) {
				err := body.UnmarshalTo(r)
				all = append(all, received{r.GetName(), r.GetResource(), err})
				continue
			}
			all = append(all, received{nameOf(body), body, nil})
		}
	}
	return all
}

// nameOf returns the name in a resource; empty: it cannot be read.
func nameOf(body *anypb.Any) string {
	m, err := body.UnmarshalNew()
	if err != nil {
		return ""
	}
	switch m := m.(type) {
	case interface{ GetName() string }:
		return m.GetName()
	case interface{ GetClusterName() string }:
		return m.GetClusterName()
	}
	return ""
}

// reject returns why a client rejects a response; empty: it does not.
func reject(m proto.Message, s *Subscription) string {
	seen := map[string]bool{}
	for _, r := range resources(m) {
		switch {
		case r.bad != nil:
			return r.bad.Error()
		case seen[r.name] && r.name != "":
			return fmt.Sprintf("%s is there twice", r.name)
		case r.body == nil:
		case r.body.GetTypeUrl() != s.Type:
			return fmt.Sprintf("%s is a %s", r.name, r.body.GetTypeUrl())
		default:
			if _, err := r.body.UnmarshalNew(); err != nil {
				return fmt.Sprintf("%s: %v", r.name, err)
			}
		}
		seen[r.name] = true
	}
	if d, ok := m.(*discoveryv3.DeltaDiscoveryResponse); ok {
		for _, name := range d.GetRemovedResources() {
			if seen[name] {
				return fmt.Sprintf("%s is sent and removed", name)
			}
		}
	}
	return ""
}
