package ops

import (
	"fmt"
	"slices"

	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"
	tapv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/tap/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "left-on",
	Severity: lint.Warning,
	Summary:  "a fault hits every request, or a tap records every request, as if a test had not been cleaned up",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/fault_filter",
		"https://www.envoyproxy.io/docs/envoy/latest/operations/traffic_tapping",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		for _, m := range all {
			for _, f := range m.Filters {
				if f.Message.GetDisabled() || !m.Routes.Known || configuredByRoute(m, f.Message.GetName()) {
					continue
				}
				switch config := f.Config.(type) {
				case *faultv3.HTTPFault:
					checkFault(p, f.Own, config)
				case *tapv3.Tap:
					checkTap(p, f.Own, config)
				}
			}
		}
	}),
})

// configuredByRoute reports whether the filter is something else for some routes.
func configuredByRoute(m managers.Manager, name string) bool {
	for l := range m.Routes.Levels {
		if l.Configs[name] != nil {
			return true
		}
	}
	return false
}

func checkFault(p *lint.Pass, at lint.At, m *faultv3.HTTPFault) {
	if m.GetUpstreamCluster() != "" || len(m.GetHeaders()) > 0 || len(m.GetDownstreamNodes()) > 0 || m.GetMaxActiveFaults() != nil {
		return // a test of some requests
	}
	runtime := envoy.RuntimeOf(p.Snapshot)
	abort, delay := m.GetAbort(), m.GetDelay()
	if status := abort.GetHttpStatus(); status != 0 && always(runtime, abort.GetPercentage(), m.GetAbortPercentRuntime(), "fault.http.abort.abort_percent") {
		p.Report(at.Field("abort", "percentage"), lint.Diagnostic{
			Message: fmt.Sprintf("Envoy answers every request with %d", status),
			Notes:   []string{"no request reaches a cluster"},
			Help:    "remove the fault, or select the requests of a test by headers",
		})
	}
	if wait := delay.GetFixedDelay(); wait != nil && always(runtime, delay.GetPercentage(), m.GetDelayPercentRuntime(), "fault.http.delay.fixed_delay_percent") {
		p.Report(at.Field("delay", "percentage"), lint.Diagnostic{
			Message: fmt.Sprintf("every request waits for %s", wait.AsDuration()),
			Notes:   []string{"Envoy withholds each request for this time before it goes to a cluster"},
			Help:    "remove the fault, or select the requests of a test by headers",
		})
	}
}

// always reports whether it is certain that a fault hits all requests: the runtime does not say something else.
func always(r envoy.Runtime, percentage *typev3.FractionalPercent, own, usual string) bool {
	return r.Known && own == "" && uint64(percentage.GetNumerator()) >= match.Denominator(percentage.GetDenominator()) && r.Integer(usual, 100) >= 100
}

func checkTap(p *lint.Pass, at lint.At, m *tapv3.Tap) {
	config := m.GetCommonConfig().GetStaticConfig()
	sampled := config.GetTapEnabled().GetDefaultValue()
	if !slices.Contains([]bool{config.GetMatch().GetAnyMatch(), config.GetMatchConfig().GetAnyMatch()}, true) || sampled != nil {
		return
	}
	p.Report(at.Field("common_config", "static_config"), lint.Diagnostic{
		Message: "Envoy records every request and its answer",
		Notes:   []string{"with bodies and headers, secrets of the users among them, for as long as the filter is there"},
		Help:    "remove the filter, or use admin_config: then it records only while someone asks the admin interface for it",
	})
}
