package conform_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/reference"
	"github.com/xdslint/xdslint/internal/servers/caches"
	"github.com/xdslint/xdslint/pull"
)

// serveCache serves a cache of go-control-plane.
func serveCache(t *testing.T, c cache.Cache, callbacks server.Callbacks) pull.Server {
	t.Helper()
	return start(t, func(s *grpc.Server) { caches.Serve(t.Context(), s, c, callbacks) })
}

// start starts a server with some services.
func start(t *testing.T, register func(*grpc.Server)) pull.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	register(s)
	go func() { _ = s.Serve(l) }() // until Stop
	t.Cleanup(s.Stop)
	return pull.Server{Address: l.Addr().String()}
}

var transports = []string{"sotw-ads", "delta-ads", "sotw", "delta"}

// TestGoControlPlane: docs/conformance.md says what go-control-plane breaks.
func TestGoControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for many answers that do not come")
	}
	var broken breaches
	t.Run("caches", func(t *testing.T) {
		for _, c := range caches.All {
			for _, transport := range transports {
				t.Run(c.Name+", "+transport, func(t *testing.T) {
					t.Parallel()
					cache := c.Create()
					reference.Fill(cache)
					report, err := conform.Run(t.Context(), serveCache(t, cache, nil), conform.Options{
						Node: edge, Wait: 5 * time.Second, Change: reference.Changer(cache),
					}.Only(transport))
					if err != nil {
						t.Fatal(err)
					}
					broken.add(c.Name, transport, report)
				})
			}
		}
	})
	var names []string
	for _, c := range caches.All {
		names = append(names, c.Name)
	}
	compareTable(t, "go-control-plane", broken.table(names))
}

// TestWithoutAggregated: a server that has only a stream for each type is tested over those.
func TestWithoutAggregated(t *testing.T) {
	cache := caches.Of(caches.NewSnapshotCache(false), map[string]int{})
	reference.Fill(cache)
	server := start(t, func(s *grpc.Server) { caches.ServeSeparately(t.Context(), s, cache, nil) })
	for _, transport := range transports {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			report, err := conform.Run(t.Context(), server, conform.Options{Node: edge, Wait: time.Second}.Only(transport))
			if err != nil {
				t.Fatal(err)
			}
			tested := map[string]bool{}
			for _, c := range report.Clauses {
				tested[c.Type] = tested[c.Type] || c.Status == conform.Kept
			}
			aggregated := strings.HasSuffix(transport, "ads")
			for _, url := range []string{reference.Clusters, reference.Endpoints, reference.Listeners, reference.Routes} {
				if tested[url] == aggregated {
					t.Errorf("%s: tested: %t", url, tested[url])
				}
			}
			if got := strings.Join(report.Notes, "\n"); strings.Contains(got, "unknown service envoy.service.discovery.v3.AggregatedDiscoveryService") != aggregated {
				t.Errorf("notes: %s", got)
			}
		})
	}
}
