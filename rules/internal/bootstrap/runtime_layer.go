package bootstrap

import (
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "runtime-layer",
	Severity: lint.Error,
	Summary:  "a layer of the runtime is a second admin layer, or does not say where to read from",
	Links:    []string{"LoaderImpl::initLayers, RtdsSubscription::createSubscription (source/common/runtime/runtime_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		var admin *lint.At
		for i, layer := range b.GetLayeredRuntime().GetLayers() {
			at := at.Field("layered_runtime").Item("layers", i)
			switch l := layer.GetLayerSpecifier().(type) {
			case *bootstrapv3.RuntimeLayer_AdminLayer_:
				if admin != nil {
					p.Reject(at.Field("admin_layer").Key(), lint.Rejection{
						Message:  "the runtime has a second admin layer",
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
						Message:  "symlink_root does not include a parent folder",
						Help:     "write the whole path, such as /srv/runtime/current",
						Upstream: "invalid file path " + root,
					})
				}
			case *bootstrapv3.RuntimeLayer_RtdsLayer_:
				if l.RtdsLayer.GetRtdsConfig() == nil {
					p.Reject(at.Field("rtds_layer").Key(), lint.Rejection{
						Message:  "the rtds_layer does not have an rtds_config",
						Help:     "write its source, such as rtds_config: {ads: {}, resource_api_version: V3}",
						Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
					})
				}
			}
		}
	}),
})
