package recorder_test

import (
	"fmt"
	"net"
	"slices"
	"testing"
	"time"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// BenchmarkRoundTrip measures a request and its response: without a proxy, through a plain TCP proxy, and recorded. The
// three take turns, and their medians are compared.
func BenchmarkRoundTrip(b *testing.B) {
	for _, resources := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("resources=%d", resources), func(b *testing.B) { roundTrips(b, resources) })
	}
}

func roundTrips(b *testing.B, resources int) {
	store := reference.NewStore()
	var names []string
	for i := range resources {
		names = append(names, fmt.Sprintf("shop-%d", i))
		store.Set(names[i], parse(b, &endpointv3.ClusterLoadAssignment{}, fmt.Sprintf(endpoints, names[i])))
	}
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer server.Stop()
	proxy, _, _, recorded := record(b, server.Address)
	defer proxy.Stop()
	ways := []*way{{name: "direct", addr: server.Address}, {name: "tcp", addr: forward(b, server.Address)}, {name: "recorded", addr: recorded}}
	for _, w := range ways {
		if w.client, err = reference.Subscribe(b.Context(), w.addr, reference.Endpoints, names...); err != nil {
			b.Fatal(err)
		}
		defer func() { _ = w.client.Close() }()
	}
	for b.Loop() {
		for _, w := range ways {
			began := time.Now()
			if _, err := w.client.Ask(); err != nil {
				b.Fatal(err)
			}
			w.took = append(w.took, time.Since(began))
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, w := range ways {
		b.ReportMetric(w.median(), w.name+"-µs")
	}
	b.ReportMetric(ways[2].median()-ways[1].median(), "added-µs")
}

const endpoints = `{"cluster_name": %q, "endpoints": [{"locality": {"zone": "a"}, "lb_endpoints": [
	{"endpoint": {"address": {"socket_address": {"address": "10.0.0.1", "port_value": 8080}}}},
	{"endpoint": {"address": {"socket_address": {"address": "10.0.0.2", "port_value": 8080}}}}]}]}`

// way is how a client reaches the server.
type way struct {
	name, addr string
	client     *reference.Subscriber
	took       []time.Duration
}

// median returns it in microseconds.
func (w *way) median() float64 {
	slices.Sort(w.took)
	return float64(w.took[len(w.took)/2].Nanoseconds()) / 1000
}

// forward serves a plain TCP proxy.
func forward(b *testing.B, upstream string) (addr string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	go reference.Relay(l, upstream)
	return l.Addr().String()
}
