package health

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "outlier-too-few-hosts",
	Severity: lint.Warning,
	Summary:  "an outlier detection that compares hosts needs more hosts than the cluster has",
	Links: []string{
		"DetectorImpl::processSuccessRateEjections (source/common/upstream/outlier_detection_impl.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/upstream/outlier",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		hosts := staticHosts(p, c)
		if hosts == 0 {
			return
		}
		at = at.Field("outlier_detection")
		for _, d := range comparisons(c.GetOutlierDetection()) {
			field := d.prefix + "_minimum_hosts"
			minimum := envoy.RuntimeOf(p.Snapshot).Integer("outlier_detection."+field, orDefault(d.minimum, 5))
			if d.written == "" || hosts >= minimum {
				continue
			}
			p.Report(at.Field(d.written), lint.Diagnostic{
				Message: fmt.Sprintf("the cluster has fewer hosts (%d) than %s (%d), so this ejects none of them", hosts, field, minimum),
				Notes:   []string{"Envoy does not compare the hosts of a cluster that has fewer; the default is 5"},
				Help:    d.help,
			})
		}
	}),
})

// A comparison is a way to find the host that fails more than the others.
type comparison struct {
	prefix, written, help string // written is the field that asks for it; empty: none does
	minimum               *wrapperspb.UInt32Value
}

func comparisons(o *clusterv3.OutlierDetection) []comparison {
	rate := comparison{
		prefix: "success_rate", minimum: o.GetSuccessRateMinimumHosts(),
		help: "use consecutive_5xx or enforcing_failure_percentage: the success rates of a few hosts do not show which of them is the outlier",
	}
	switch {
	case o.GetEnforcingSuccessRate() != nil && o.GetEnforcingSuccessRate().GetValue() == 0:
	case o.GetSuccessRateMinimumHosts() != nil:
		rate.written = "success_rate_minimum_hosts"
	case o.GetSuccessRateStdevFactor() != nil:
		rate.written = "success_rate_stdev_factor"
	case o.GetSuccessRateRequestVolume() != nil:
		rate.written = "success_rate_request_volume"
	}
	percentage := comparison{
		prefix: "failure_percentage", minimum: o.GetFailurePercentageMinimumHosts(),
		help: "write a smaller failure_percentage_minimum_hosts",
	}
	if o.GetEnforcingFailurePercentage().GetValue() > 0 {
		percentage.written = "enforcing_failure_percentage"
	}
	return []comparison{rate, percentage}
}

func orDefault(v *wrapperspb.UInt32Value, otherwise uint64) uint64 {
	if v == nil {
		return otherwise
	}
	return uint64(v.GetValue())
}
