package http

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "xff-exclusive",
	Severity: lint.Error,
	Summary:  "the trusted proxies in x-forwarded-for are configured by number and by address",
	Links:    []string{"XffIPDetection::create (source/extensions/http/original_ip_detection/xff/xff.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		for i, e := range m.GetOriginalIpDetectionExtensions() {
			config, own := envoy.Content(at.Item("original_ip_detection_extensions", i).Field("typed_config"), e.GetTypedConfig())
			if config == nil || config.ProtoReflect().Descriptor().FullName() != "envoy.extensions.http.original_ip_detection.xff.v3.XffConfig" {
				continue
			}
			if isSet(config.ProtoReflect(), "xff_num_trusted_hops") && isSet(config.ProtoReflect(), "xff_trusted_cidrs") {
				p.Reject(own.Field("xff_num_trusted_hops").Key(), lint.Rejection{
					Message:  "xff_num_trusted_hops cannot be combined with xff_trusted_cidrs",
					Help:     "keep one of them",
					Upstream: "Cannot set both xff_num_trusted_hops and xff_trusted_cidrs",
					Related:  []lint.Related{lint.RelatedTo(own.Field("xff_trusted_cidrs").Key(), "the other one")},
				})
			}
		}
	}),
})

func isSet(m protoreflect.Message, field protoreflect.Name) bool {
	fd := m.Descriptor().Fields().ByName(field)
	return fd != nil && m.Has(fd)
}
