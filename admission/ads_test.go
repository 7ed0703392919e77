package admission_test

import (
	"testing"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/stream/v3"

	"github.com/xdslint/xdslint/admission"
)

// An Envoy that requests what its clusters need over one SotW stream still gets endpoints while a cluster is left out: a SnapshotCache does not
// answer at all if it has the endpoints of a cluster that Envoy does not know.
func TestEndpointsGoOn(t *testing.T) {
	for name, bad := range map[string][]types.Resource{
		"left out":            {refused(eds("pay")), endpoints("pay", 80)},
		"other endpoints":     {renamed(eds("pay"), "nowhere"), endpoints("pay", 80)},
		"an earlier version":  {renamed(eds("cart"), "cart-2"), endpoints("cart-2", 80), refused(eds("shop"))},
		"a table that is bad": {eds("pay"), endpoints("pay", 80), table("public", "shop", "cart", "nowhere")},
	} {
		t.Run(name, func(t *testing.T) {
			g := try(t, nil)
			g.must(admission.Admitted, snapshot(t, "v1", good()...))
			if d, _ := g.set(snapshot(t, "v2", plus(append(bad, endpoints("shop", 81))...)...)); d.Outcome != admission.Quarantined {
				t.Fatal(d.Outcome)
			}
			held, err := g.GetSnapshot(node)
			if err != nil {
				t.Fatal(err)
			}
			var asks []string // as Envoy does once it has the clusters
			for _, c := range held.GetResources(resource.ClusterType) {
				asks = append(asks, edsName(c))
			}
			answer := make(chan cachev3.Response, 1)
			cancel, err := g.CreateWatch(&cachev3.Request{
				Node: &corev3.Node{Id: node}, TypeUrl: resource.EndpointType, ResourceNames: asks, VersionInfo: "v1",
			}, stream.NewSotwSubscription(asks, true), answer)
			if err != nil {
				t.Fatal(err)
			}
			defer cancel()
			select {
			case r := <-answer:
				if returned := r.GetReturnedResources(); len(returned) != len(asks) {
					t.Errorf("%v, and Envoy asks for %v", returned, asks)
				}
			default:
				t.Errorf("no answer to %v; the cache has %v", asks, held.GetResources(resource.EndpointType))
			}
		})
	}
}
