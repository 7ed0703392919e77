package gocp_test

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/durationpb"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Lint what a control plane is about to serve.
func ExampleSnapshot() {
	snapshot, err := cachev3.NewSnapshot("v7", map[resource.Type][]types.Resource{
		resource.ClusterType: {&clusterv3.Cluster{Name: "cart", ConnectTimeout: durationpb.New(0)}},
		resource.RouteType: {&routev3.RouteConfiguration{Name: "shop", VirtualHosts: []*routev3.VirtualHost{{
			Name: "shop", Domains: []string{"shop.example.com"}, Routes: []*routev3.Route{{
				Match: &routev3.RouteMatch{PathSpecifier: &routev3.RouteMatch_Prefix{Prefix: "/"}},
				Action: &routev3.Route_Route{Route: &routev3.RouteAction{
					ClusterSpecifier: &routev3.RouteAction_Cluster{Cluster: "crat"},
				}},
			}},
		}}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	made, err := gocp.Snapshot(snapshot)
	if err != nil {
		fmt.Println(err)
		return
	}
	made.Complete(graph.Cluster, graph.Anywhere) // all clusters are known: there is no bootstrap that may define others

	result := lint.Run(context.Background(), []*graph.Snapshot{made}, lint.Config{Rules: rules.Builtin()})
	for _, d := range result.Diagnostics {
		if d.Severity == lint.Error {
			fmt.Printf("%s %s: %s\n", d.Resource.Kind, d.Resource.Name, d.Message)
		}
	}
	// Output:
	// cluster cart: connect_timeout must be greater than 0s
	// route_configuration shop: no cluster is named "crat"
}
