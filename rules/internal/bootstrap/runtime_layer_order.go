package bootstrap

import (
	"fmt"
	"maps"
	"slices"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"

	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "runtime-layer-order",
	Severity: lint.Warning,
	Summary:  "a static layer of the runtime comes after the admin layer, so the admin interface cannot change its keys",
	Links: []string{
		"SnapshotImpl::SnapshotImpl (source/common/runtime/runtime_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/operations/runtime",
	},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		layers := b.GetLayeredRuntime().GetLayers()
		at = at.Field("layered_runtime")
		admin := slices.IndexFunc(layers, func(l *bootstrapv3.RuntimeLayer) bool { return l.GetAdminLayer() != nil })
		if admin < 0 {
			return
		}
		for i, l := range layers[admin+1:] {
			keys := slices.Sorted(maps.Keys(l.GetStaticLayer().GetFields()))
			if len(keys) == 0 {
				continue
			}
			p.Report(at.Item("layers", admin).Field("admin_layer").Key(), lint.Diagnostic{
				Message: fmt.Sprintf("POST /runtime_modify does not change %s, because the layer %q comes later", words.Few(keys, 3), l.GetName()),
				Notes:   []string{"Envoy answers OK, and takes the value of the last layer that has the key"},
				Help:    "write the admin layer after the static layers",
				Related: []lint.Related{lint.RelatedTo(at.Item("layers", admin+1+i).Field("static_layer").Key(), "this layer wins")},
				Fixes:   lint.MoveToEnd(at.Item("layers", admin)).Likely("let the admin interface override all layers"),
			})
			return
		}
	}),
})
