package conform_test

import (
	"strings"
	"testing"
	"testing/synctest"

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

// start starts a server with some services, without a network.
func start(t *testing.T, register func(*grpc.Server)) pull.Server {
	t.Helper()
	l, at := reference.Memory()
	s := grpc.NewServer(grpc.WaitForHandlers(true))
	register(s)
	go func() { _ = s.Serve(l) }() // until Stop
	t.Cleanup(s.Stop)
	return at
}

// overEach runs a test for each transport, in a bubble: an answer that does not come costs no time.
func overEach(t *testing.T, prefix string, test func(t *testing.T, transport string)) {
	for _, transport := range transports {
		t.Run(prefix+transport, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, transport) })
		})
	}
}

var transports = []string{"sotw-ads", "delta-ads", "sotw", "delta"}

// TestGoControlPlane: docs/conformance.md says what go-control-plane breaks.
func TestGoControlPlane(t *testing.T) {
	var broken breaches
	t.Run("caches", func(t *testing.T) {
		for _, c := range caches.All {
			overEach(t, c.Name+", ", func(t *testing.T, transport string) {
				cache := c.Create()
				reference.Fill(cache)
				report, err := conform.Run(t.Context(), serveCache(t, cache, nil), conform.Options{Node: edge, Change: reference.Changer(cache)}.Only(transport))
				if err != nil {
					t.Fatal(err)
				}
				broken.add(c.Name, transport, report)
			})
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
	overEach(t, "", func(t *testing.T, transport string) {
		cache := caches.Of(caches.NewSnapshotCache(false), map[string]int{})
		reference.Fill(cache)
		server := start(t, func(s *grpc.Server) { caches.ServeSeparately(t.Context(), s, cache, nil) })
		report, err := conform.Run(t.Context(), server, conform.Options{Node: edge}.Only(transport))
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
