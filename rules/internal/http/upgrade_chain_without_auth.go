package http

import (
	"fmt"
	"strings"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "upgrade-chain-without-auth",
	Severity: lint.Warning,
	Summary:  "the filters of an upgrade lack those that authorize all other requests",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/upgrades",
		"https://github.com/envoyproxy/envoy/issues/35191",
	},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		for i, upgrade := range m.GetUpgradeConfigs() {
			own := at.Item("upgrade_configs", i)
			missing := lacking(
				envoy.HTTPFiltersOf(at, "http_filters", m.GetHttpFilters()),
				envoy.HTTPFiltersOf(own, "filters", upgrade.GetFilters()),
			)
			if len(upgrade.GetFilters()) == 0 || len(missing) == 0 {
				continue
			}
			p.Report(own.Field("filters").Key(), lint.Diagnostic{
				Message: fmt.Sprintf("requests that upgrade to %s pass without %s", upgrade.GetUpgradeType(), strings.Join(words.Quoted(missing), ", ")),
				Notes:   []string{"these filters replace http_filters for a request with the header upgrade: " + upgrade.GetUpgradeType() + ", whatever its upstream does with it"},
				Help:    "add them here, or remove filters: then the upgrade uses http_filters",
			})
		}
	}),
})

// lacking returns the names of the filters that authorize requests in one chain, and have none of their kind in another one. It returns nothing if
// the other chain has a filter that may do the same.
func lacking(chain, other []envoy.HTTPFilter) (names []string) {
	kinds := map[string]bool{}
	for _, f := range other {
		if !f.Passive() && !f.Authorizes() {
			return nil
		}
		kinds[f.Kind] = true
	}
	for _, f := range chain {
		if f.Authorizes() && !f.Message.GetDisabled() && !kinds[f.Kind] {
			names = append(names, f.Message.GetName())
		}
	}
	return names
}
