package route

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "duplicate-upgrade",
	Severity: lint.Error,
	Summary:  "a route has the same upgrade type twice",
	Links:    []string{"RouteEntryImplBase::RouteEntryImplBase (source/common/router/config_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteAction) {
		if len(m.GetUpgradeConfigs()) < 2 || holder(at) != "envoy.config.route.v3.Route.route" {
			return
		}
		seen := map[string]int{}
		for i, c := range m.GetUpgradeConfigs() {
			first, twice := seen[ascii.Lower(c.GetUpgradeType())]
			if !twice {
				seen[ascii.Lower(c.GetUpgradeType())] = i
				continue
			}
			if _, ok := tableOf(p, at); ok {
				var fixes []lint.Fix
				if proto.Equal(c, m.GetUpgradeConfigs()[first]) {
					fixes = lint.Remove(at.Item("upgrade_configs", i)).Safe("remove the second one, which is equal")
				}
				p.Reject(at.Item("upgrade_configs", i).Field("upgrade_type"), lint.Rejection{
					Message:  fmt.Sprintf("duplicate upgrade_type %q", c.GetUpgradeType()),
					Help:     "keep one of them; enabled: false forbids an upgrade that the connection manager allows",
					Upstream: "Duplicate upgrade " + c.GetUpgradeType(),
					Fixes:    fixes,
					Related:  []lint.Related{lint.RelatedTo(at.Item("upgrade_configs", first).Field("upgrade_type"), "the first one")},
				})
			}
		}
	}),
})
