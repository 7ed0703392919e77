package reference_test

import (
	"maps"
	"os"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/reference"
)

var failure = &statusv3.Status{Code: 13, Message: "shop: connect_timeout must be positive"}

// cluster returns a cluster that gets its endpoints over ADS; n makes it different.
func cluster(name string, n int64) *clusterv3.Cluster {
	return &clusterv3.Cluster{
		Name: name, ConnectTimeout: durationpb.New(time.Duration(n) * time.Second), ClusterDiscoveryType: &clusterv3.Cluster_Type{Type: clusterv3.Cluster_EDS},
		EdsClusterConfig: &clusterv3.Cluster_EdsClusterConfig{EdsConfig: &corev3.ConfigSource{ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}}}},
	}
}

// assignment returns the endpoints of a cluster, at a port.
func assignment(name string, port uint32) *endpointv3.ClusterLoadAssignment {
	address := &corev3.SocketAddress{Address: "127.0.0.1", PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: port}}
	return &endpointv3.ClusterLoadAssignment{ClusterName: name, Endpoints: []*endpointv3.LocalityLbEndpoints{{
		LbEndpoints: []*endpointv3.LbEndpoint{{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{
			Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: address}},
		}}}},
	}}}
}

// play lets clients do everything that the clauses are about.
func (h *harness) play() {
	for _, name := range []string{"shop", "cart", "books"} {
		h.set(name, cluster(name, 1))
		h.set(name, assignment(name, 8080))
	}
	h.set("web", &listenerv3.Listener{Name: "web"})
	h.set("web", &routev3.RouteConfiguration{Name: "web"})

	edge := h.client("edge-1")
	edge.subscribe(reference.Clusters)
	edge.subscribe(reference.Endpoints, "shop", "cart")
	edge.subscribe(reference.Listeners)
	edge.subscribe(reference.Routes, "web")
	h.set("shop", assignment("shop", 8081))

	// A cluster is added, removed and added again, and its endpoints are asked for each time.
	h.set("stock", cluster("stock", 1))
	h.set("stock", assignment("stock", 8080))
	edge.subscribe(reference.Endpoints, "stock")
	h.remove(reference.Clusters, "cart")
	edge.unsubscribe(reference.Endpoints, "cart")
	h.set("cart", cluster("cart", 1))
	edge.subscribe(reference.Endpoints, "cart")

	// A cluster changes, and its endpoints are asked for once more.
	h.set("shop", cluster("shop", 2))
	edge.subscribe(reference.Endpoints, "shop")
	h.wait(20 * time.Second)

	// A response is rejected; the next one is right.
	edge.rejects[reference.Clusters] = true
	h.set("shop", cluster("shop", -1))
	edge.rejects[reference.Clusters] = false
	h.set("shop", cluster("shop", 3))

	// A name is created after it was subscribed to, and one never.
	edge.subscribe(reference.Endpoints, "news", "never")
	h.wait(time.Second)
	h.set("news", assignment("news", 8080))

	// A name is asked for again, and a second client of the same node gets the same.
	edge.unsubscribe(reference.Endpoints, "cart")
	edge.subscribe(reference.Endpoints, "cart")
	twin := h.client("edge-1")
	twin.subscribe(reference.Clusters)
	twin.subscribe(reference.Endpoints, "shop", "cart", "late")
	edge.subscribe(reference.Endpoints, "late")
	h.set("shop", assignment("shop", 8082))
	h.set("late", assignment("late", 8080))
	h.set("gifts", cluster("gifts", 1))
	h.set("web", &routev3.RouteConfiguration{Name: "web", IgnorePortInHostMatching: true})
	h.remove(reference.Clusters, "stock")
	edge.unsubscribe(reference.Endpoints, "stock")
	h.wait(20 * time.Second)

	h.named()
	h.wildcards()
	h.hasty()
	h.wait(40 * time.Second)

	edge.reconnect()
	h.set("shop", assignment("shop", 8083))
	h.wait(40 * time.Second)
	h.onDemand()
	h.wait(40 * time.Second)
	for _, c := range h.clients {
		c.close()
	}
	h.wait(time.Second)
}

// named is a client that names its clusters, and then none.
func (h *harness) named() {
	c := h.client("proxyless-1")
	c.subscribe(reference.Clusters, "shop")
	c.subscribe(reference.Clusters, "cart")
	h.set("cart", cluster("cart", 2))
	c.unsubscribe(reference.Clusters, "cart")
	c.unsubscribe(reference.Clusters, "shop")
	h.set("shop", cluster("shop", 4))
	h.wait(20 * time.Second)
}

// onDemand are clients of scoped routes, of virtual hosts on demand, and of a collection of xdstp. The last one returns
// after a cluster was removed.
func (h *harness) onDemand() {
	h.set("shop", &routev3.ScopedRouteConfiguration{Name: "shop", RouteConfigurationName: "web"})
	c := h.client("edge-4")
	c.subscribe(reference.Scopes)
	if h.delta {
		h.set("web/shop.example.com", &routev3.VirtualHost{Name: "web/shop.example.com", Domains: []string{"shop.example.com"}})
		c.subscribe(reference.VirtualHosts)
		c.subscribe(reference.VirtualHosts, "web/shop.example.com", "web/void.example.com")
	}
	h.set(tenant+"a", cluster(tenant+"a", 1))
	d := h.client("edge-5")
	d.subscribe(reference.Clusters, tenant+"*")
	d.subscribe(reference.Clusters, tenant+"none/*")
	h.set(tenant+"b", cluster(tenant+"b", 1))
	h.set(tenant+"a", cluster(tenant+"a", 2))
	h.remove(reference.Clusters, tenant+"b")

	old := h.client(returning)
	old.subscribe(reference.Clusters)
	old.close()
	h.remove(reference.Clusters, "gifts")
	h.client(returning).subscribe(reference.Clusters)
	old.reconnect()
}

// returning is the node of a client that returns after something was removed.
const returning = "edge-6"

// tenant is the beginning of the names in a collection.
const tenant = "xdstp://example.com/envoy.config.cluster.v3.Cluster/tenant/"

// wildcards is a client that has a wildcard and a name, and then only the wildcard.
func (h *harness) wildcards() {
	c := h.client("edge-2")
	c.subscribe(reference.Clusters, "*", "shop")
	c.unsubscribe(reference.Clusters, "shop")
	c.subscribe(reference.Endpoints, "shop", "cart")
	c.unsubscribe(reference.Endpoints, "cart")
	c.subscribe(reference.Endpoints, "news")
	h.set("cart", assignment("cart", 8090))
	h.set("cart", cluster("cart", 3))
}

// hasty is a client that asks once more before it has read what it asked for: in SotW, its nonce is stale.
func (h *harness) hasty() {
	c := h.client("edge-3")
	c.subscribe(reference.Endpoints, "shop")
	c.slow = true
	c.subscribe(reference.Endpoints, "cart")
	c.subscribe(reference.Endpoints, "cart")
	c.read()
}

// judge returns the clauses that the recording breaks, with the messages.
func (h *harness) judge() map[string]string {
	h.t.Helper()
	if err := h.out.Close(); err != nil {
		h.t.Fatal(err)
	}
	text, err := os.ReadFile(h.path)
	if err != nil {
		h.t.Fatal(err)
	}
	report, _, err := xdslint.Trace(h.t.Context(), xdslint.Options{}, map[string][]byte{"recording.jsonl": text})
	if err != nil {
		h.t.Fatal(err)
	}
	found := map[string]string{}
	for _, d := range report.Diagnostics {
		found[d.Rule.Name] = d.Message
	}
	return found
}

// clientClauses has the names of the clauses about clients.
func clientClauses() map[string]bool {
	names := map[string]bool{}
	for _, c := range protocol.Clauses() {
		names[c.Name] = c.Client
	}
	return names
}

// breaksOnly plays the scenario, and checks that it breaks a clause and no other.
func (h *harness) breaksOnly(clause string) {
	h.t.Helper()
	h.play()
	found := h.judge()
	if found[clause] == "" {
		h.t.Errorf("not found")
	}
	delete(found, clause)
	for _, c := range protocol.Clauses() {
		if c.Name == clause && !c.Client { // the client here accepts whatever comes
			maps.DeleteFunc(found, func(other, _ string) bool { return clientClauses()[other] })
		}
	}
	for other, message := range found {
		h.t.Errorf("also found: %s: %s", other, message)
	}
}

// TestReference: the reference server and a client that behaves break nothing.
func TestReference(t *testing.T) {
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			h := newHarness(t, v)
			h.play()
			for clause, message := range h.judge() {
				t.Errorf("%s: %s", clause, message)
			}
		})
	}
}
