package admission_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/stream/v3"

	"github.com/xdslint/xdslint/admission"
)

// client requests endpoints as go-control-plane's server does for an Envoy.
type client struct {
	*trial
	names   []string
	version string
	sub     stream.Subscription
	answers chan cachev3.Response
	cancel  func()
}

func (g *trial) client(names ...string) *client {
	c := &client{trial: g, cancel: func() {}, sub: stream.NewSotwSubscription(names, true)}
	g.t.Cleanup(func() { c.cancel() })
	c.ask(names...)
	return c
}

// served is a client that has got foo in v1.
func (g *trial) served() *client {
	g.t.Helper()
	g.push("v1", "foo")
	c := g.client("foo")
	c.must("v1: foo")
	c.ack()
	return c
}

func (c *client) ask(names ...string) {
	c.t.Helper()
	c.cancel()
	c.names, c.answers = names, make(chan cachev3.Response, 1)
	c.sub.SetResourceSubscription(names)
	cancel, err := c.CreateWatch(&cachev3.Request{
		Node: &corev3.Node{Id: node}, TypeUrl: resource.EndpointType, ResourceNames: names, VersionInfo: c.version,
	}, c.sub, c.answers)
	if err != nil {
		c.t.Fatal(err)
	}
	c.cancel = cancel
}

// got is the answer that is there, as "v1: a b", or nothing.
func (c *client) got() string {
	c.t.Helper()
	select {
	case r := <-c.answers:
		out, err := r.GetDiscoveryResponse()
		if err != nil {
			c.t.Fatal(err)
		}
		if r.GetRequest().GetVersionInfo() != c.version || len(out.GetResources()) != len(r.GetReturnedResources()) {
			c.t.Errorf("answered %v to %v", out, r.GetRequest())
		}
		c.version = out.GetVersionInfo()
		c.sub.SetReturnedResources(r.GetReturnedResources())
		return c.version + ": " + strings.Join(slices.Sorted(maps.Keys(r.GetReturnedResources())), " ")
	default:
		return ""
	}
}

func (c *client) must(want string) {
	c.t.Helper()
	if got := c.got(); got != want {
		c.t.Errorf("answered %q, want %q", got, want)
	}
}

// ack requests the same names again, in the version that came last.
func (c *client) ack() { c.t.Helper(); c.ask(c.names...) }

func (g *trial) push(version string, names ...string) {
	g.t.Helper()
	var all []types.Resource
	for _, name := range names {
		all = append(all, endpoints(name, 80))
	}
	if err := g.SetSnapshot(context.Background(), node, snapshot(g.t, version, all...)); err != nil {
		g.t.Fatal(err)
	}
}

// later returns when the gate has waited long enough for a node that requests less than there is.
func later() { time.Sleep(2 * time.Second); synctest.Wait() }

func TestWatchSurvives(t *testing.T) {
	g := try(t, nil)
	c := g.client("foo")
	g.push("v1", "foo")
	c.must("v1: foo")
	c.ack()
	g.push("v2", "foo", "bar") // which the node never requests
	c.must("")
	g.push("v3", "foo")
	c.must("v3: foo")
	c.ack()
	g.push("v4", "foo")
	c.must("v4: foo")
}

// A node gets what it requests, even if it never requests the rest.
func TestPartOfSnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := try(t, nil)
		c := g.client("foo")
		g.push("v1", "foo", "bar")
		c.must("")
		later()
		c.must("v1: foo")
		c.ack()
		g.push("v2", "foo", "bar") // it knows of bar, and does not request it
		c.must("v2: foo")
		c.ack()
		g.push("v3", "foo", "baz", "bar")
		c.must("")
		c.ask("foo", "baz") // in time
		c.must("")
		later()
		c.must("v3: baz foo")
		c.ack()
		later()
		c.must("")
		again := g.client("foo") // another stream
		later()
		again.must("v3: foo")
	})
}

// A node that requests in time what is new is answered by the cache, once.
func TestRequestInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := try(t, nil)
		c := g.served()
		former := c.answers
		g.push("v2", "foo", "bar")
		c.must("")
		c.ask("foo", "bar")
		c.must("v2: bar foo")
		c.ack()
		later()
		c.must("")
		if len(former) > 0 {
			t.Error("a request that is over was answered")
		}
		c.ask("foo", "bar", "new") // at the same version
		later()
		c.must("")
		g.push("v3", "foo", "bar", "new")
		c.must("v3: bar foo new")
	})
}

func TestBackToFormerVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := try(t, nil)
		c := g.served()
		g.push("v2", "foo", "bar")
		g.push("v1", "foo")
		later()
		c.must("")
		g.push("v3", "foo")
		c.must("v3: foo")
	})
}

func TestClosedWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := try(t, nil)
		c := g.client("foo")
		g.push("v1", "foo", "bar")
		c.cancel()
		c.cancel() // as a server may
		later()
		c.must("")
		g.push("v2", "foo")
		c.must("")
	})
}

// A slow reader gets no second answer, and nothing blocks.
func TestAnswerNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := try(t, nil)
		c := g.client("foo")
		g.push("v1", "foo")
		for _, version := range []string{"v2", "v3"} {
			g.push(version, "foo", "bar")
			later()
		}
		g.push("v4", "foo")
		c.must("v1: foo")
		c.ack()
		c.must("v4: foo")
	})
}

// A cache that is not for ADS answers for itself.
func TestCacheWithoutADS(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := cachev3.NewSnapshotCache(false, cachev3.IDHash{}, nil)
		g := try(t, nil)
		g.Gate.SnapshotCache, g.cache = cache, cache
		first := g.client("foo")
		g.push("v1", "foo", "bar")
		first.must("v1: foo")
		first.ack()
		second := g.client("bar")
		second.must("v1: bar")
		second.ack()
		for _, version := range []string{"v2", "v3"} {
			g.push(version, "foo", "bar", version)
			for _, c := range []*client{first, second} {
				c.must(version + ": " + c.names[0])
				c.ack()
			}
			later()
			first.must("")
			second.must("")
		}
	})
}

// Options.Push sets snapshots in the cache by itself. What the cache has lost then is answered too.
func TestWatchSurvivesPush(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var cache cachev3.SnapshotCache
		g := try(t, func(o *admission.Options) {
			o.Push = func(ctx context.Context, node string, s cachev3.ResourceSnapshot) error {
				return cache.SetSnapshot(ctx, node, s)
			}
		})
		cache = g.cache
		c := g.client("foo")
		g.push("v1", "foo", "bar")
		g.push("v2", "foo")
		later()
		c.must("v2: foo")
	})
}

// hash knows nodes by their clusters.
type hash struct{}

func (hash) ID(n *corev3.Node) string { return n.GetCluster() }

func TestHash(t *testing.T) {
	cache := cachev3.NewSnapshotCache(true, hash{}, nil)
	g := try(t, func(o *admission.Options) { o.Hash = hash{} })
	g.Gate.SnapshotCache = cache
	answers, names := make(chan cachev3.Response, 1), []string{"foo"}
	cancel, err := g.CreateWatch(&cachev3.Request{
		Node: &corev3.Node{Id: "someone", Cluster: node}, TypeUrl: resource.EndpointType, ResourceNames: names,
	}, stream.NewSotwSubscription(names, true), answers)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	g.push("v1", "foo", "bar")
	g.push("v2", "foo")
	if len(answers) != 1 {
		t.Error("no answer")
	}
}
