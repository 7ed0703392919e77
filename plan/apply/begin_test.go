package apply

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

// TestFirstRefused: after a restart, one Envoy rejects the first push. There is no state to return to, and an empty
// snapshot would be worse.
func TestFirstRefused(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 2)
		for _, f := range envoys {
			f.disconnect()
		}
		p.cache.ClearSnapshot("edge")
		envoys[1].does(func() { envoys[1].refuses = lds })
		for _, f := range envoys {
			f.connect()
		}
		for _, f := range envoys {
			f.eventually("all Envoys", func() bool {
				asking := 0
				p.node(func(n *node) {
					for s := range n.streams {
						if s.subscriptions[lds] != nil {
							asking++
						}
					}
				})
				return asking == len(envoys)
			})
		}
		target := plain
		target.backend = 8081
		target.ports = map[string]uint32{"l": 10001}
		after := target.snapshot(t, "v2", transport)
		opts := options(p)
		opts.Progress = func(e Event) { e.Plan.Remaining(t.Context(), dataplane.Default()) }
		err := push(p, after, opts)
		var nack *NackError
		if !errors.As(err, &nack) {
			t.Errorf("got %v", err)
		}
		p.holds(t, after)
		envoys[0].arrives(after)
	})
}

// An explicit transport does not mean that an Envoy is connected.
func TestFirstTransport(t *testing.T) {
	t.Parallel()
	p := newPlane(t, lint.ADSSotW)
	opts := options(p)
	opts.Plan.Push.Transport = lint.ADSSotW
	var before *cachev3.Snapshot
	after := plain.snapshot(t, "v1", lint.ADSSotW)
	if err := Run(context.Background(), p.cache, "edge", before, after, opts); err != nil {
		t.Fatal(err)
	}
	if err := push(p, before, opts); err == nil {
		t.Error("no snapshot is taken for an empty one")
	}
	p.holds(t, after)
}

// An Envoy that connects late and rejects what an early phase sent does not take the others back through all phases at once.
func TestLateNACK(t *testing.T) {
	t.Parallel()
	for _, transport := range []lint.Transport{lint.ADSSotW, lint.ADSDelta} {
		t.Run(string(transport), func(t *testing.T) {
			t.Parallel()
			p, envoys := start(t, transport, plain, 1)
			f := envoys[0]
			f.does(func() { f.drains = true })
			result := going(p, renamed.snapshot(t, "v2", transport), options(p))
			f.eventually("the new route", func() bool { return f.has[rds]["r2"] != nil })
			time.Sleep(100 * time.Millisecond)
			connectWith(t, p, transport, func(late *fake) { late.refuses = cds })
			var nack *NackError
			if err := ended(t, result); !errors.As(err, &nack) {
				t.Fatalf("got %v", err)
			}
			time.Sleep(200 * time.Millisecond)
			f.mu.Lock()
			defer f.mu.Unlock()
			if len(f.broken) > 0 {
				t.Errorf("on the way: %v", slices.Compact(f.broken))
			}
		})
	}
}

// Envoy is sent a resource again when its TTL is removed.
func TestTTL(t *testing.T) {
	t.Parallel()
	p := newPlane(t, lint.ADSSotW)
	ttl := 10 * time.Second
	before := plain.snapshot(t, "v1", lint.ADSSotW)
	for name, item := range before.Resources[types.Endpoint].Items {
		item.TTL = &ttl
		before.Resources[types.Endpoint].Items[name] = item
	}
	if err := p.cache.SetSnapshot(context.Background(), "edge", before); err != nil {
		t.Fatal(err)
	}
	f := connect(t, p, lint.ADSSotW)
	f.arrives(before)
	if err := push(p, plain.snapshot(t, "v2", lint.ADSSotW), options(p)); err != nil {
		t.Fatal(err)
	}
	f.eventually("the endpoints again", func() bool { return slices.Contains(f.got, "EDS v2") })
}

// A node to which no Envoy reconnects is forgotten when its drains must be over. Drains of a rejected phase never count.
func TestForgotten(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	f := envoys[0]
	f.does(func() { f.drains, f.refuses = true, lds })
	opts := options(p)
	opts.Plan.DrainTime, opts.Plan.AckTimeout = 500*time.Millisecond, 15*time.Second
	var nack *NackError
	if err := push(p, renamed.snapshot(t, "v2", lint.ADSSotW), opts); !errors.As(err, &nack) {
		t.Fatalf("got %v", err)
	}
	nodes := func(is func(map[string]*node) bool) func() bool {
		return func() bool { p.tracker.mu.Lock(); defer p.tracker.mu.Unlock(); return is(p.tracker.nodes) }
	}
	if !nodes(func(all map[string]*node) bool { return len(all["edge"].draining) == 0 })() {
		t.Error("what Envoy rejected is taken as drained")
	}
	f.does(func() { f.refuses = "" })
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- Run(ctx, p.cache, "edge", nil, renamed.snapshot(t, "w", lint.ADSSotW), opts) }()
	f.eventually("the new route", func() bool { return f.has[rds]["r2"] != nil })
	cancel()
	_ = ended(t, result)
	f.disconnect()
	f.eventually("no node", nodes(func(all map[string]*node) bool { return len(all) == 0 }))
}

// After a restart, virtual hosts that were kept for draining connections are not waited for: Envoy may have dropped their routes.
func TestRestartAfterVirtualHosts(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSDelta, plain, 1)
	envoys[0].disconnect()
	p.cache.ClearSnapshot("edge")
	before := plain.snapshot(t, "v1", lint.ADSDelta)
	before.Resources[types.VirtualHost] = cachev3.NewResources("v1", []types.Resource{&routev3.VirtualHost{Name: "old/shop", Domains: []string{"shop"}}})
	kept := &routev3.RouteConfiguration{Name: "old", Vhds: &routev3.Vhds{ConfigSource: &corev3.ConfigSource{
		ResourceApiVersion: corev3.ApiVersion_V3, ConfigSourceSpecifier: &corev3.ConfigSource_Ads{Ads: &corev3.AggregatedConfigSource{}},
	}}}
	before.Resources[types.Route].Items["old"] = types.ResourceWithTTL{Resource: kept}
	opts := options(p)
	opts.Plan.DrainTime = 100 * time.Millisecond
	after := plain.snapshot(t, "v2", lint.ADSDelta)
	result := make(chan error, 1)
	go func() { result <- Run(context.Background(), p.cache, "edge", before, after, opts) }()
	envoys[0].connect()
	if err := ended(t, result); err != nil {
		t.Fatal(err)
	}
	p.holds(t, after)
}
