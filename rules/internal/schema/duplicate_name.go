package schema

import (
	"fmt"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	overloadv3 "github.com/envoyproxy/go-control-plane/envoy/config/overload/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "duplicate-name",
	Family:   dataplane.Envoy,
	Severity: lint.Error,
	Summary:  "two resources of one kind have the same name",
	Run: lint.EachResource(duplicateResource).
		And(lint.Each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
			duplicateLayers(p, at, b)
			duplicateMonitors(p, at, b.GetOverloadManager())
		})),
})

// unit is the scope in which a name of a kind is unique: one source in one file.
type unit struct {
	sub    string // secrets of different types do not clash
	from   graph.Source
	file   *graph.SourceFile
	booted bool
}

func unitOf(r *graph.Resource) unit {
	u := unit{from: r.Source, file: r.File, booted: r.Delivery == graph.FromBootstrap}
	if secret, ok := r.Message.(*tlsv3.Secret); ok {
		u.sub = secretType(secret)
	}
	return u
}

func duplicateResource(p *lint.Pass, r *graph.Resource) {
	if r.Name == "" || r.Message == nil || r.State != "" || r.Kind == graph.Bootstrap {
		return // a config_dump holds what Envoy accepted; a static route configuration may be in it many times
	}
	own := unitOf(r)
	for _, other := range p.Snapshot.Named(r.Kind, r.Name) {
		if other == r {
			return
		}
		if other.Message == nil || other.State != "" || unitOf(other) != own {
			continue
		}
		d := lint.Diagnostic{
			Message: fmt.Sprintf("another %s is named %q", r.Kind, r.Name),
			Related: []lint.Related{lint.RelatedTo(other.At().Field(ownName(r)), "the first one")},
		}
		fate(&d, r)
		p.ReportResource(r, d)
		return
	}
}

func ownName(r *graph.Resource) string {
	if r.Message.ProtoReflect().Descriptor().Fields().ByName("name") == nil {
		return "cluster_name"
	}
	return "name"
}

// fate adds what Envoy does with the second resource of a name.
func fate(d *lint.Diagnostic, r *graph.Resource) {
	switch {
	case r.Delivery == graph.FromBootstrap && r.Kind == graph.Listener:
		d.Notes = []string{"Envoy silently replaces the first one with this one"}
	case r.Delivery == graph.FromBootstrap:
		d.Rejected, d.Notes = true, []string{envoy.OnReject(r)}
		d.Upstream = fmt.Sprintf("duplicate %s '%s'", r.Kind, r.Name)
		if secret, ok := r.Message.(*tlsv3.Secret); ok {
			d.Upstream = fmt.Sprintf("Duplicate static %s secret name %s", secretType(secret), r.Name)
		}
	case r.Kind == graph.Cluster || r.Kind == graph.Listener:
		d.Rejected = true
		d.Notes = []string{"Envoy applies the first, but still rejects the update (NACK)"}
		d.Upstream = fmt.Sprintf("duplicate %s %s found", r.Kind, r.Name)
	default:
		d.Severity = lint.Warning
		d.Notes = []string{"Envoy keeps the first one in a response and drops the others; with delta xDS, it rejects the update"}
	}
}

func secretType(s *tlsv3.Secret) string {
	switch s.GetType().(type) {
	case *tlsv3.Secret_TlsCertificate:
		return "TlsCertificate"
	case *tlsv3.Secret_ValidationContext:
		return "CertificateValidationContext"
	case *tlsv3.Secret_SessionTicketKeys:
		return "TlsSessionTicketKeys"
	case *tlsv3.Secret_GenericSecret:
		return "GenericSecret"
	}
	return ""
}

func duplicateLayers(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
	seen := map[string]bool{}
	for i, layer := range b.GetLayeredRuntime().GetLayers() {
		if seen[layer.GetName()] {
			twice(p, at.Field("layered_runtime").Item("layers", i).Field("name"), "layer", layer.GetName(), "Duplicate layer name: "+layer.GetName())
		}
		seen[layer.GetName()] = true
	}
}

func duplicateMonitors(p *lint.Pass, at lint.At, o *overloadv3.OverloadManager) {
	at = at.Field("overload_manager")
	monitors := map[string]bool{}
	for i, m := range o.GetResourceMonitors() {
		if monitors[m.GetName()] {
			twice(p, at.Item("resource_monitors", i).Field("name"), "resource monitor", m.GetName(), "Duplicate resource monitor "+m.GetName())
		}
		monitors[m.GetName()] = true
	}
	actions := map[string]bool{}
	for i, a := range o.GetActions() {
		if actions[a.GetName()] {
			twice(p, at.Item("actions", i).Field("name"), "overload action", a.GetName(), "Duplicate overload action "+a.GetName())
		}
		actions[a.GetName()] = true
		duplicateTriggers(p, at.Item("actions", i), a.GetTriggers(), "Duplicate trigger resource for overload action "+a.GetName())
	}
	points := map[string]bool{}
	for i, l := range o.GetLoadshedPoints() {
		if points[l.GetName()] {
			twice(p, at.Item("loadshed_points", i).Field("name"), "load shed point", l.GetName(), "Duplicate loadshed point "+l.GetName())
		}
		points[l.GetName()] = true
		duplicateTriggers(p, at.Item("loadshed_points", i), l.GetTriggers(), "Duplicate trigger resource for LoadShedPoint "+l.GetName())
	}
}

func duplicateTriggers(p *lint.Pass, at lint.At, triggers []*overloadv3.Trigger, upstream string) {
	seen := map[string]bool{}
	for i, trigger := range triggers {
		if seen[trigger.GetName()] {
			twice(p, at.Item("triggers", i).Field("name"), "trigger", trigger.GetName(), upstream)
		}
		seen[trigger.GetName()] = true
	}
}

func twice(p *lint.Pass, at lint.At, what, name, upstream string) {
	if name == "" {
		return
	}
	p.Report(at, lint.Diagnostic{
		Message: fmt.Sprintf("another %s before this one is named %q", what, name),
		Notes:   []string{envoy.OnReject(at.Resource())}, Rejected: true, Upstream: upstream,
	})
}
