package endpoint

import (
	"fmt"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "duplicate-endpoint",
	Severity: lint.Info,
	Summary:  "a load assignment from EDS has an address twice, and Envoy ignores the second one",
	Links:    []string{"EdsClusterImpl::BatchUpdateHelper::updateLocalityEndpoints (source/extensions/clusters/eds/eds.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *endpointv3.ClusterLoadAssignment) {
		if c, ok := clusterOf(at); !ok || c != nil {
			return // only EDS compares addresses
		}
		first := map[string]lint.At{}
		for i, locality := range a.GetEndpoints() {
			for j, e := range locality.GetLbEndpoints() {
				where, address := at.Item("endpoints", i).Item("lb_endpoints", j), envoy.AddressOf(e)
				before, twice := first[address]
				if address == "" || !twice {
					first[address] = where
					continue
				}
				p.Report(where, lint.Diagnostic{
					Message: fmt.Sprintf("the address of this endpoint is already in the load assignment of %q", a.GetClusterName()),
					Notes:   []string{"Envoy keeps the first endpoint of an address, and ignores the weight, locality and priority of the others"},
					Help:    "remove one of the two; to send more requests to it, write a load_balancing_weight",
					Related: []lint.Related{lint.RelatedTo(before, "Envoy keeps this one")},
				})
			}
		}
	}),
})
