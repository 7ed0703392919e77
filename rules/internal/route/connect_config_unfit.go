package route

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "connect-config-unfit",
	Severity: lint.Error,
	Summary:  "a route has connect_config for an upgrade other than CONNECT",
	Links:    []string{"RouteEntryImplBase::RouteEntryImplBase (source/common/router/config_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteAction) {
		if len(m.GetUpgradeConfigs()) == 0 || holder(at) != "envoy.config.route.v3.Route.route" {
			return
		}
		for i, c := range m.GetUpgradeConfigs() {
			name := c.GetUpgradeType()
			if c.GetConnectConfig() == nil || name == "" || strings.EqualFold(name, "CONNECT") || strings.EqualFold(name, "CONNECT-UDP") {
				continue
			}
			if _, ok := tableOf(p, at); ok {
				where := at.Item("upgrade_configs", i)
				p.Reject(where.Field("connect_config").Key(), lint.Rejection{
					Message:  fmt.Sprintf("the upgrade %q does not accept connect_config", name),
					Help:     "remove it; for a tunnel, write upgrade_type: CONNECT",
					Upstream: fmt.Sprintf("Non-CONNECT upgrade type %s has ConnectConfig", name),
					Fixes:    lint.Remove(where.Field("connect_config")).Likely("remove connect_config"),
					Related:  []lint.Related{lint.RelatedTo(where.Field("upgrade_type"), "the type")},
				})
			}
		}
	}),
})
