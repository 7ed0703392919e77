package bootstrap

import (
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "runtime-layer",
	Severity: lint.Error,
	Summary:  "a layer of the runtime cannot be made: a second admin layer, a disk layer or RTDS without a place to read from",
	Links:    []string{"LoaderImpl::initLayers, RtdsSubscription::createSubscription (source/common/runtime/runtime_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		var admin *lint.At
		for i, layer := range b.GetLayeredRuntime().GetLayers() {
			at := at.Field("layered_runtime").Item("layers", i)
			switch l := layer.GetLayerSpecifier().(type) {
			case *bootstrapv3.RuntimeLayer_AdminLayer_:
				if admin != nil {
					p.Reject(at.Field("admin_layer").Key(), lint.Rejection{
						Message:  "a second admin layer",
						Help:     "keep one of them",
						Upstream: "Too many admin layers specified in LayeredRuntime, at most one may be specified",
						Related:  []lint.Related{lint.RelatedTo(admin.Key(), "the first one")},
					})
					continue
				}
				first := at.Field("admin_layer")
				admin = &first
			case *bootstrapv3.RuntimeLayer_DiskLayer_:
				if root := l.DiskLayer.GetSymlinkRoot(); !strings.Contains(root, "/") {
					p.Reject(at.Field("disk_layer", "symlink_root"), lint.Rejection{
						Message:  "symlink_root names no folder",
						Help:     "write the whole path, such as /srv/runtime/current",
						Upstream: "invalid file path " + root,
					})
				}
			case *bootstrapv3.RuntimeLayer_RtdsLayer_:
				if l.RtdsLayer.GetRtdsConfig() == nil {
					p.Reject(at.Field("rtds_layer").Key(), lint.Rejection{
						Message:  "the rtds_layer has no rtds_config",
						Help:     "say where it comes from: rtds_config: {ads: {}, resource_api_version: V3}",
						Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
					})
				}
			}
		}
	}),
})
