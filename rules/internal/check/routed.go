package check

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Routed reports whether an HTTP route names a cluster. A TCP proxy carries whatever its client speaks.
func Routed(p *lint.Pass, cluster *graph.Resource) bool {
	return slices.ContainsFunc(p.Snapshot.To(cluster), func(e *graph.Edge) bool {
		_, where := graph.Around[*routev3.RouteAction](e.Place)
		return where != nil
	})
}
