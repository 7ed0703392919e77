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
					p.Refuse(at.Field("admin_layer").Key(), "a second admin layer", "keep one of them",
						"Too many admin layers specified in LayeredRuntime, at most one may be specified", lint.RelatedTo(admin.Key(), "the first one"))
					continue
				}
				first := at.Field("admin_layer")
				admin = &first
			case *bootstrapv3.RuntimeLayer_DiskLayer_:
				if root := l.DiskLayer.GetSymlinkRoot(); !strings.Contains(root, "/") {
					p.Refuse(at.Field("disk_layer", "symlink_root"), "symlink_root names no folder", "write the whole path, such as /srv/runtime/current", "invalid file path "+root)
				}
			case *bootstrapv3.RuntimeLayer_RtdsLayer_:
				if l.RtdsLayer.GetRtdsConfig() == nil {
					p.Refuse(at.Field("rtds_layer").Key(), "the rtds_layer has no rtds_config", "say where it comes from: rtds_config: {ads: {}, resource_api_version: V3}",
						"Missing config source specifier in envoy::config::core::v3::ConfigSource")
				}
			}
		}
	}),
})
