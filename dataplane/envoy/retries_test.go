package envoy_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestRetryConditions: a router that checks its headers strictly answers 400 to a condition that Envoy does not know.
func TestRetryConditions(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(backend.Close)
	internal := "use_remote_address: true\ninternal_address_config: {cidr_ranges: [{address_prefix: 127.0.0.1, prefix_len: 32}]}\n"
	strict := strings.Replace(boot(http1(internal+inline("route: {cluster: backend}")), static("backend", backend.Listener.Addr().String())),
		"router.v3.Router", "router.v3.Router, strict_check_headers: [x-envoy-retry-on, x-envoy-retry-grpc-on]", 1)
	e, err := envoytest.Serve(ctx, strict, ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	address, err := e.Addr(ctx, "l")
	if err != nil {
		t.Fatal(err)
	}
	known := func(header, condition string) bool {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(header, condition)
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		return response.StatusCode == http.StatusOK
	}
	for _, condition := range slices.Concat(envoy.RetryConditions, envoy.RetryGRPC, []string{"5XX", "503", "gateway_error", "timeout", "unknown"}) {
		if got, want := known("x-envoy-retry-on", condition), slices.Contains(envoy.RetryConditions, condition); got != want {
			t.Errorf("Envoy knows %s: %v, want %v", condition, got, want)
		}
		if got, want := known("x-envoy-retry-grpc-on", condition), slices.Contains(envoy.RetryGRPC, condition); got != want {
			t.Errorf("Envoy knows %s for gRPC: %v, want %v", condition, got, want)
		}
	}
}
