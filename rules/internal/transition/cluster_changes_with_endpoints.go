package transition

import (
	"fmt"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cluster-changes-with-endpoints",
	Severity: lint.Warning,
	Summary:  "how a cluster talks to its endpoints changes together with all of its endpoints, under one name",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/cluster_manager#cluster-warming"},
	Run: lint.ForTransition(func(p *lint.Pass, changes *graph.Changes) {
		for _, change := range changes.Of(graph.Cluster) {
			if !change.Changed() || !inUse(p.Old, change.Old) {
				continue
			}
			before, after := edsOf(p.Old, change.Old), edsOf(p.Snapshot, change.New)
			if before == nil || after == nil || before.To == nil || after.To == nil || before.Target != after.Target {
				continue
			}
			if field := manner(change); field != "" && exchanged(before.To, after.To) && lasts(p, change) {
				reportTogether(p, change, after, field)
			}
		}
	}),
})

func reportTogether(p *lint.Pass, change *graph.Change, eds *graph.Edge, field string) {
	p.Report(change.New.At().Field(field).Key(), lint.Diagnostic{
		Message: fmt.Sprintf("cluster %q changes its %s together with all of its endpoints", change.Name, field),
		Notes: []string{
			"envoy gives the new endpoints to the old cluster too, which talks to them in the old way until the new cluster is warm: 503 (response flag UF or UC)",
		},
		Help:    fmt.Sprintf("give the cluster another eds_cluster_config.service_name in the same push: the old one then keeps the endpoints of %q until the new one is warm", eds.Target),
		Related: []lint.Related{lint.RelatedTo(eds.To.At().Field("endpoints"), "none of these endpoints was there before")},
	})
}

// lasts tells whether the old cluster has to do with the new endpoints for longer than a moment: the new one waits for health checks, or
// nothing says in which order the two resources come. An old cluster with health checks keeps its endpoints for so long.
func lasts(p *lint.Pass, change *graph.Change) bool {
	before, _ := change.Old.Message.(*clusterv3.Cluster)
	after, _ := change.New.Message.(*clusterv3.Cluster)
	keeps := len(before.GetHealthChecks()) > 0 && !before.GetIgnoreHealthOnHostRemoval()
	return !keeps && (len(after.GetHealthChecks()) > 0 || !p.Push.Transport.ADS())
}

// manners are the fields that say how a cluster talks to its endpoints.
var manners = []protoreflect.Name{"transport_socket", "transport_socket_matches", "typed_extension_protocol_options", "http2_protocol_options"}

// manner is the first of them that differs.
func manner(change *graph.Change) string {
	before, after := change.Old.Message.ProtoReflect(), change.New.Message.ProtoReflect()
	for _, name := range manners {
		fd := before.Descriptor().Fields().ByName(name)
		if fd == nil || after.Descriptor() != before.Descriptor() {
			return ""
		}
		if !proto.Equal(change.Old.CanonicalOf(only(before, fd)), change.New.CanonicalOf(only(after, fd))) {
			return string(name)
		}
	}
	return ""
}

// only is a message with one of its fields.
func only(m protoreflect.Message, fd protoreflect.FieldDescriptor) proto.Message {
	one := m.New()
	if m.Has(fd) {
		one.Set(fd, m.Get(fd))
	}
	return one.Interface()
}

// exchanged tells whether two load assignments have endpoints, and no address in common.
func exchanged(before, after *graph.Resource) bool {
	had, has := addressesOf(before), addressesOf(after)
	if len(had) == 0 || len(has) == 0 {
		return false
	}
	for address := range has {
		if had[address] {
			return false
		}
	}
	return true
}

func addressesOf(r *graph.Resource) map[string]bool {
	cla, _ := r.Message.(*endpointv3.ClusterLoadAssignment)
	all := map[string]bool{}
	for _, locality := range cla.GetEndpoints() {
		for _, e := range locality.GetLbEndpoints() {
			if a := e.GetEndpoint().GetAddress(); a != nil {
				key, _ := (proto.MarshalOptions{Deterministic: true}).Marshal(a) // what was decoded can be encoded
				all[string(key)] = true
			}
		}
	}
	return all
}
