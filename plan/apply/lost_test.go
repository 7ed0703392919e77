package apply

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"

	"github.com/xdslint/xdslint/lint"
)

// TestSubscribesAgain: the cache answers over Delta while the server handles the request that unsubscribes from a route
// configuration. The server then takes it as sent, and does not send it when the Envoy requests it again.
func TestSubscribesAgain(t *testing.T) {
	t.Parallel()
	both := config{
		listeners: map[string]string{"l1": "r1", "l2": "r2"},
		ports:     map[string]uint32{"l1": 10001, "l2": 10002},
		routes:    map[string]string{"r1": "a", "r2": "a"},
		clusters:  map[string]time.Duration{"a": time.Second, "b": time.Second},
	}
	p := newPlane(t, lint.ADSDelta)
	raced := both
	raced.listeners = map[string]string{"l1": "r1", "l2": "r1"}
	raced.routes = map[string]string{"r1": "a", "r2": "b"}
	meanwhile := raced.snapshot(t, "v2", lint.ADSDelta)
	var done atomic.Bool
	p.tracker.Callbacks = serverv3.CallbackFuncs{StreamDeltaRequestFunc: func(_ int64, r *discoveryv3.DeltaDiscoveryRequest) error {
		if r.GetTypeUrl() == rds && len(r.GetResourceNamesUnsubscribe()) > 0 && !done.Swap(true) {
			return p.cache.SetSnapshot(context.Background(), "edge", meanwhile)
		}
		return nil
	}}
	set := func(s cachev3.ResourceSnapshot) {
		if err := p.cache.SetSnapshot(t.Context(), "edge", s); err != nil {
			t.Fatal(err)
		}
	}
	before := both.snapshot(t, "v1", lint.ADSDelta)
	set(before)
	f := connect(t, p, lint.ADSDelta)
	f.arrives(before)
	raced.routes = both.routes
	set(raced.snapshot(t, "v1b", lint.ADSDelta))
	f.eventually("the late answer", func() bool { return slices.Contains(f.got, "RDS v2") })
	f.does(func() { delete(f.has[rds], "r2") }) // Envoy ignores what it no longer requests
	next := both
	next.routes = map[string]string{"r1": "a", "r2": "b"}
	after := next.snapshot(t, "v3", lint.ADSDelta)
	if err := push(p, after, options(p)); err != nil {
		t.Fatal(err)
	}
	f.arrives(after)
}
