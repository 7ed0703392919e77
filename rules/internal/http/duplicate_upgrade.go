package http

import (
	"fmt"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "duplicate-upgrade",
	Severity: lint.Error,
	Summary:  "a connection manager has two upgrade_configs of the same type",
	Links:    []string{"HttpConnectionManagerConfig::HttpConnectionManagerConfig (source/extensions/filters/network/http_connection_manager/config.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		first := map[string]int{}
		for i, upgrade := range m.GetUpgradeConfigs() {
			own := at.Item("upgrade_configs", i).Field("upgrade_type")
			name := ascii.Lower(upgrade.GetUpgradeType())
			before, twice := first[name]
			if !twice {
				first[name] = i
				continue
			}
			d := lint.Diagnostic{
				Message:  fmt.Sprintf("duplicate upgrade_type %q", upgrade.GetUpgradeType()),
				Notes:    []string{envoy.OnReject(at.Resource()) + "; it ignores the case of upgrade types"},
				Help:     "keep one of them",
				Rejected: true, Upstream: fmt.Sprintf("multiple upgrade configs with the same name: '%s'", upgrade.GetUpgradeType()),
				Related: []lint.Related{lint.RelatedTo(at.Item("upgrade_configs", before).Field("upgrade_type"), "the first one")},
			}
			if proto.Equal(upgrade, m.GetUpgradeConfigs()[before]) {
				d.Fixes = lint.Remove(at.Item("upgrade_configs", i)).Safe("remove the second one, which is equal")
			}
			p.Report(own, d)
		}
	}),
})
