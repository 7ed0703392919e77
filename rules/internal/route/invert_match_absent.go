package route

import (
	"fmt"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "invert-match-absent",
	Severity: lint.Info,
	Summary:  "an inverted header match of a route does not match requests without the header",
	Links: []string{
		"HeaderUtility::HeaderDataBaseImpl (source/common/http/header_utility.h)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-headermatcher",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteMatch) {
		if _, ok := tableOf(p, at); !ok {
			return
		}
		for i, h := range m.GetHeaders() {
			_, present := h.GetHeaderMatchSpecifier().(*routev3.HeaderMatcher_PresentMatch)
			if !h.GetInvertMatch() || present || h.GetHeaderMatchSpecifier() == nil || h.GetTreatMissingHeaderAsEmpty() || strings.HasPrefix(h.GetName(), ":") {
				continue
			}
			own := at.Item("headers", i)
			p.Report(own.Field("invert_match"), lint.Diagnostic{
				Message: fmt.Sprintf("a request without the header %s does not match", h.GetName()),
				Notes:   []string{"invert_match inverts the comparison of the value, and an absent header has none to compare"},
				Help:    "add treat_missing_header_as_empty: true to match such requests too",
				Fixes:   lint.Insert(own, "treat_missing_header_as_empty", true).Likely("add treat_missing_header_as_empty: true"),
			})
		}
	}),
})
