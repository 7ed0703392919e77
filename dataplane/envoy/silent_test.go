package envoy_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestLocalityWithoutWeight: Envoy accepts a locality without a weight next to one that has a weight, and sends it nothing.
func TestLocalityWithoutWeight(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	locality := func(zone, weight string) string {
		backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, zone) }))
		t.Cleanup(backend.Close)
		host, port, _ := strings.Cut(backend.Listener.Addr().String(), ":")
		return fmt.Sprintf("{locality: {zone: %s}, %s lb_endpoints: [{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}", zone, weight, host, port)
	}
	for name, c := range map[string]struct{ first, second, want string }{
		"one weight":  {"load_balancing_weight: 1,", "", "a"},
		"two weights": {"load_balancing_weight: 1,", "load_balancing_weight: 1,", "ab"},
		"no weight":   {"", "", "ab"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := fmt.Sprintf("    - {name: backend, connect_timeout: 1s, common_lb_config: {locality_weighted_lb_config: {}}, "+
				"load_assignment: {cluster_name: backend, endpoints: [%s, %s]}}", locality("a", c.first), locality("b", c.second))
			e, err := envoytest.Serve(ctx, boot(http1(inline("route: {cluster: backend}")), cluster), ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			if got := answering(t, ctx, e, 40); got != c.want {
				t.Errorf("%q answer, want %q", got, c.want)
			}
		})
	}
}

// answering sends requests to the listener "l" and returns the different answers in order.
func answering(t *testing.T, ctx context.Context, e *envoytest.Envoy, requests int) (all string) {
	t.Helper()
	addr, err := e.Addr(ctx, "l")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range requests {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK {
			t.Fatalf("%s %q %v", response.Status, text, err)
		}
		seen[string(text)] = true
	}
	for _, name := range []string{"a", "b", "c", "d"} {
		if seen[name] {
			all += name
		}
	}
	return all
}

// TestNoPanicWithFailover: a priority with one healthy host of three does not panic as long as another priority takes the rest of the requests.
func TestNoPanicWithFailover(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	host := func(name, health string) string {
		backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, name) }))
		t.Cleanup(backend.Close)
		ip, port, _ := strings.Cut(backend.Listener.Addr().String(), ":")
		return fmt.Sprintf("{health_status: %s, endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}", health, ip, port)
	}
	first := fmt.Sprintf("{lb_endpoints: [%s, %s, %s]}", host("a", "HEALTHY"), host("b", "UNHEALTHY"), host("c", "UNHEALTHY"))
	for want, second := range map[string]string{
		"ad":  fmt.Sprintf("{priority: 1, lb_endpoints: [%s]}", host("d", "HEALTHY")),
		"abc": "",
	} {
		cluster := fmt.Sprintf("    - {name: backend, connect_timeout: 1s, load_assignment: {cluster_name: backend, endpoints: [%s, %s]}}", first, second)
		e, err := envoytest.Serve(ctx, boot(http1(inline("route: {cluster: backend}")), strings.Replace(cluster, ", ]", "]", 1)), ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if got := answering(t, ctx, e, 60); got != want {
			t.Errorf("%q answer, want %q", got, want)
		}
	}
}
