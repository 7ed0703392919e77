package tls

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "static-watch",
	Severity: lint.Warning,
	Summary:  "a certificate or CA that does not come over SDS has a watched_directory, which Envoy does not watch",
	Links: []string{
		"SdsApi::onConfigUpdate (source/common/secret/sds_api.cc)",
		"https://github.com/envoyproxy/envoy/issues/10387",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		watching, ok := m.Interface().(interface {
			GetWatchedDirectory() *corev3.WatchedDirectory
		})
		if !ok || watching.GetWatchedDirectory() == nil || overSDS(at.Resource()) {
			return
		}
		p.Report(at.Field("watched_directory").Key(), lint.Diagnostic{
			Message: "Envoy does not watch this directory, and never reads the files again",
			Notes:   []string{"only secrets from SDS are watched: when the files are renewed, Envoy keeps the old certificate or CA until it expires"},
			Help:    "move this into a file of secrets, and refer to it by sds_config with path_config_source",
		})
	}, nameOf(&tlsv3.TlsCertificate{}), nameOf(&tlsv3.CertificateValidationContext{})),
})

// overSDS reports whether SDS delivers a resource, or may do so: a patch does not show what it becomes a part of.
func overSDS(r *graph.Resource) bool {
	return r.Kind == graph.Patch || r.Kind == graph.Secret && r.Delivery != graph.FromBootstrap
}

func nameOf(m proto.Message) protoreflect.FullName { return m.ProtoReflect().Descriptor().FullName() }
