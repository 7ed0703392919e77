package http

import (
	faultv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/fault/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "fault-no-percentage",
	Severity: lint.Warning,
	Summary:  "a fault does not have a percentage, and hits no request",
	Links: []string{
		"FaultSettings::FaultSettings (source/extensions/filters/http/fault/fault_filter.cc)",
		"https://github.com/envoyproxy/envoy/issues/10648",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *faultv3.HTTPFault) {
		if m.GetAbort() != nil && m.GetAbort().GetPercentage() == nil && m.GetAbortPercentRuntime() == "" {
			reportFault(p, at.Field("abort"), "abort")
		}
		if m.GetDelay() != nil && m.GetDelay().GetPercentage() == nil && m.GetDelayPercentRuntime() == "" {
			reportFault(p, at.Field("delay"), "delay")
		}
	}),
})

func reportFault(p *lint.Pass, at lint.At, what string) {
	p.Report(at.Key(), lint.Diagnostic{
		Message: "this " + what + " does not have a percentage, so it hits no request",
		Notes:   []string{"the default is 0 %, also where a request header selects the fault"},
		Help:    "add percentage: {numerator: 100, denominator: HUNDRED}, or a smaller share",
	})
}
