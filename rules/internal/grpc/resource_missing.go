package grpc

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "resource-missing",
	Severity: lint.Error,
	Summary:  "a route configuration, cluster or load assignment does not exist",
	Links: []string{
		"DependencyManager.populateClusterConfigLocked (internal/xds/xdsdepmgr/xds_dependency_manager.go)",
		"https://github.com/grpc/proposal/blob/master/A74-xds-config-tears.md",
	},
	Run: missing(graph.RouteConfiguration, "route configuration").And(missing(graph.Cluster, "cluster")).And(missing(graph.ClusterLoadAssignment, "cluster load assignment")),
})

// consequences are what grpc-go does without a resource, by the field that names it. Clients do not read other references.
var consequences = map[protoreflect.FullName]string{
	"envoy.extensions.filters.network.http_connection_manager.v3.Rds.route_config_name": "fails all RPCs with UNAVAILABLE",
	"envoy.config.route.v3.RouteAction.cluster":                                         takesRoute,
	"envoy.config.route.v3.WeightedCluster.ClusterWeight.name":                          takesRoute,
	"envoy.extensions.clusters.aggregate.v3.ClusterConfig.clusters":                     "fails all RPCs to the aggregate with UNAVAILABLE, even if other members have endpoints",
	"envoy.config.cluster.v3.Cluster.EdsClusterConfig.service_name":                     "fails all RPCs to the cluster with UNAVAILABLE; if it is in an aggregate, the next member gets them",
}

const takesRoute = "fails the RPCs that take the route with UNAVAILABLE; all other RPCs wait until then"

func missing(kind graph.Kind, what string) lint.Check {
	return lint.EachDangling(kind, func(p *lint.Pass, e *graph.Edge, world graph.World) {
		then := consequences[e.Field]
		if then == "" || unread(e) {
			return
		}
		note := p.Target.Plane + " fails the RPCs that need it with UNAVAILABLE"
		if p.Target.Plane == grpc.Go {
			note = "grpc-go waits 15 seconds for it, and then " + then
		}
		p.ReportDangling(e, world, lint.Diagnostic{Message: fmt.Sprintf("no %s is named %q", what, e.Target), Notes: []string{note}})
	})
}

// unread reports whether clients leave out what names the resource: a member without a weight, or a route that matches query parameters.
func unread(e *graph.Edge) bool {
	if member, ok := graph.As[*routev3.WeightedCluster_ClusterWeight](e.Place); ok && member.GetWeight().GetValue() == 0 {
		return true
	}
	place := e.Place.Enclosing("envoy.config.route.v3.Route")
	if place == nil {
		return false
	}
	route, ok := graph.As[*routev3.Route](place)
	return ok && len(route.GetMatch().GetQueryParameters()) > 0
}
