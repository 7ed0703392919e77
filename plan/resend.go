package plan

import (
	"sort"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/graph"
)

// resends sends endpoints again after a cluster that waits for them: over ADS, Envoy asks for a name only once, and a
// changed cluster, or another one with the same service_name, warms until they arrive (15 s by default).
func (p *planner) resends() {
	if p.forGRPC() || !p.opts.Push.Transport.ADS() {
		return
	}
	var clusters []*step
	for _, s := range p.all {
		if s.Kind == graph.Cluster && !s.removes {
			clusters = append(clusters, s)
		}
	}
	sort.SliceStable(clusters, func(i, j int) bool { return clusters[i].level < clusters[j].level })
	sent := map[Resource]map[int]bool{}
	last := map[Resource]proto.Message{}
	for _, s := range clusters {
		for _, e := range p.changes.New.From(s.change.New) {
			if e.Kind == graph.ClusterLoadAssignment && e.To != nil && p.subscribed(e.To) {
				p.resend(s, e.To, sent, last)
			}
		}
	}
}

// subscribed reports whether the data plane already asks for a cluster load assignment.
func (p *planner) subscribed(r *graph.Resource) bool {
	before := p.changes.Old.Pushed(r.Kind, r.Name)
	return before != nil && len(p.changes.Old.To(before)) > 0
}

func (p *planner) resend(cluster *step, target *graph.Resource, sent map[Resource]map[int]bool, last map[Resource]proto.Message) {
	at := Resource{target.Kind, target.Name}
	if sent[at] == nil {
		sent[at] = map[int]bool{}
	}
	own := p.byName[at]
	between := p.interims[at]
	if sent[at][cluster.level] || own != nil && own.level == cluster.level || between != nil && between.level == cluster.level {
		return
	}
	sent[at][cluster.level] = true
	u, like := Update{Name: target.Name, Content: New, Message: target.Message}, target
	switch {
	case own == nil || own.level < cluster.level:
	case between != nil && between.level < cluster.level:
		like, u = between.like, between.update
	default:
		like = own.change.Old
		u.Content, u.Message = Old, like.Message
	}
	if p.opts.Push.Transport.Incremental() {
		u = touch(u, last[at])
		last[at] = u.Message
	}
	p.all = append(p.all, &step{Resource: at, like: like, update: u, level: cluster.level})
}

// neutral is Envoy's default: it means the same as an absent value.
const neutral = 140

// touch makes a change without effect to a cluster load assignment, so that a server that compares contents sends it.
func touch(u Update, last proto.Message) Update {
	current := u.Message
	if last != nil {
		current = last
	}
	cla, ok := current.(*endpointv3.ClusterLoadAssignment)
	if !ok {
		return u
	}
	why := "Envoy waits for these endpoints again, and a server that compares contents would not send them"
	touched := proto.CloneOf(cla)
	switch policy := touched.GetPolicy(); {
	case policy.GetOverprovisioningFactor() == nil:
		if policy == nil {
			touched.Policy = &endpointv3.ClusterLoadAssignment_Policy{}
		}
		touched.Policy.OverprovisioningFactor = wrapperspb.UInt32(neutral)
		u.Touched = []Touch{{Field: "policy.overprovisioning_factor", Value: "140, which is the default", Why: why}}
	case policy.GetOverprovisioningFactor().GetValue() == neutral:
		touched.Policy.OverprovisioningFactor = nil
		u.Touched = []Touch{{Field: "policy.overprovisioning_factor", Value: "not set, which means 140 as well", Why: why}}
	default: // Envoy does not read named_endpoints
		touched.NamedEndpoints = map[string]*endpointv3.Endpoint{"sent-again": {}}
		u.Touched = []Touch{{Field: "named_endpoints", Value: `an unused entry "sent-again"`, Why: why}}
	}
	u.Content, u.Message = Touched, touched
	return u
}
