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
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/stream/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"

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

func (c *client) ask(names ...string) {
	c.t.Helper()
	c.request(&cachev3.Request{ResourceNames: names})
}

// request sends a request with the version that the client has.
func (c *client) request(q *cachev3.Request) {
	c.t.Helper()
	c.cancel()
	c.names, c.answers = q.GetResourceNames(), make(chan cachev3.Response, 1)
	c.sub.SetResourceSubscription(c.names)
	q.Node, q.TypeUrl, q.VersionInfo = &corev3.Node{Id: node}, resource.EndpointType, c.version
	cancel, err := c.CreateWatch(q, c.sub, c.answers)
	if err != nil {
		c.t.Fatal(err)
	}
	c.cancel = cancel
}

// receive returns the answer that is there, or nil.
func (c *client) receive() *discoveryv3.DiscoveryResponse {
	c.t.Helper()
	synctest.Wait()
	select {
	case r := <-c.answers:
		out, err := r.GetDiscoveryResponse()
		if err != nil {
			c.t.Fatal(err)
		}
		c.sub.SetReturnedResources(r.GetReturnedResources())
		return out
	default:
		return nil
	}
}

// must have this answer, as "v1: a b", or none. The client uses it if it ACKs it.
func (c *client) must(want string) {
	c.t.Helper()
	got, answer := "", c.receive()
	if answer != nil {
		got = answer.GetVersionInfo() + ": " + strings.Join(slices.Sorted(maps.Keys(c.sub.ReturnedResources())), " ")
		if len(answer.GetResources()) != len(c.sub.ReturnedResources()) {
			c.t.Errorf("answered %v", answer)
		}
		c.version = answer.GetVersionInfo()
	}
	if got != want {
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

// eachCache runs a test with a gate in front of a cache that is for ADS, and of one that is not.
func eachCache(t *testing.T, test func(g *trial)) {
	for name, ads := range map[string]bool{"ADS": true, "not for ADS": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := try(t, nil)
				cache := cachev3.NewSnapshotCache(ads, cachev3.IDHash{}, nil)
				g.Gate.SnapshotCache, g.cache = cache, cache
				test(g)
			})
		})
	}
}

// A node gets what it requests, whatever else there is.
func TestPartOfSnapshot(t *testing.T) {
	eachCache(t, func(g *trial) {
		c := g.client("foo")
		g.push("v1", "foo", "bar")
		c.must("v1: foo")
		c.ack()
		c.must("")
		g.push("v2", "foo", "bar", "baz")
		c.must("v2: foo")
		c.ask("foo", "baz", "new")
		c.must("v2: baz foo")
		c.ack()
		c.must("")
		g.push("v3", "foo")
		c.must("v3: foo")
		c.ack()
		g.push("v4", "foo", "new")
		c.must("v4: foo new")
		again := g.client("foo") // another stream
		again.must("v4: foo")
	})
}

func TestBackToFormerVersion(t *testing.T) {
	eachCache(t, func(g *trial) {
		g.push("v1", "foo")
		c := g.client("foo")
		c.must("v1: foo")
		c.ack()
		g.push("v2", "foo", "bar")
		c.must("v2: foo")
		g.push("v1", "foo")
		c.ack()
		c.must("v1: foo")
		c.ack()
		g.push("v3", "foo")
		c.must("v3: foo")
	})
}

func TestClosedWatch(t *testing.T) {
	eachCache(t, func(g *trial) {
		c := g.client("foo")
		c.cancel()
		c.cancel() // as a server may
		g.push("v1", "foo", "bar")
		c.must("")
	})
}

// A slow reader gets no second answer, and nothing blocks.
func TestAnswerNotRead(t *testing.T) {
	eachCache(t, func(g *trial) {
		c := g.client("foo")
		g.push("v1", "foo")
		synctest.Wait()
		for _, version := range []string{"v2", "v3"} {
			g.push(version, "foo", "bar")
			synctest.Wait()
		}
		g.push("v4", "foo")
		c.must("v1: foo")
		c.ack()
		c.must("v4: foo")
	})
}

// Options.Push sets snapshots in the cache by itself.
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
		c.must("v1: foo")
		c.ack()
		g.push("v2", "foo")
		c.must("v2: foo")
	})
}

// What a node rejects is not sent again: it gets the next version.
func TestRejected(t *testing.T) {
	eachCache(t, func(g *trial) {
		for _, names := range [][]string{{"foo"}, nil} {
			g.push("v1", "foo", "bar")
			c := g.client(names...)
			c.receive()
			c.request(&cachev3.Request{ResourceNames: names, ErrorDetail: &statusv3.Status{Message: "no"}})
			if again := c.receive(); again != nil {
				c.t.Errorf("%v: sent again: %v", names, again)
			}
			g.push("v2", "foo", "bar")
			if next := c.receive(); next.GetVersionInfo() != "v2" {
				c.t.Errorf("%v: the next version is %v", names, next)
			}
		}
	})
}

// A node that has unsubscribed from its last name gets nothing, and one with a wildcard everything, also if it names something.
func TestWildcards(t *testing.T) {
	eachCache(t, func(g *trial) {
		g.push("v1", "foo", "bar")
		c := g.client("foo")
		c.must("v1: foo")
		c.ask()
		g.push("v2", "foo", "bar")
		c.must("")
		c.ask("*", "foo")
		c.must("v2: bar foo")
		c.ack()
		c.must("")
	})
}

// A heartbeat renews what is requested.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := try(t, nil)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		cache := cachev3.NewSnapshotCacheWithHeartbeating(ctx, true, cachev3.IDHash{}, nil, time.Second)
		g.Gate.SnapshotCache, g.cache = cache, cache
		ttl := time.Minute
		s, err := cachev3.NewSnapshotWithTTLs("v1", map[resource.Type][]types.ResourceWithTTL{resource.EndpointType: {
			{Resource: endpoints("foo", 80), TTL: &ttl}, {Resource: endpoints("bar", 80), TTL: &ttl},
		}})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.SetSnapshot(ctx, node, s); err != nil {
			t.Fatal(err)
		}
		c := g.client("foo")
		c.must("v1: foo")
		c.ack()
		time.Sleep(1500 * time.Millisecond)
		answer := c.receive()
		if len(answer.GetResources()) != 1 {
			t.Fatalf("answered %v", answer)
		}
		var renewed discoveryv3.Resource
		if err := answer.Resources[0].UnmarshalTo(&renewed); err != nil || renewed.GetName() != "foo" || renewed.GetResource() != nil {
			t.Errorf("renewed %v (%v)", &renewed, err)
		}
	})
}

// hash knows nodes by their clusters.
type hash struct{}

func (hash) ID(n *corev3.Node) string { return n.GetCluster() }

func TestHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		synctest.Wait()
		if len(answers) != 1 {
			t.Error("no answer")
		}
	})
}

// A node that subscribes over Delta gets the resource or learns that there is none, each time.
func TestSubscribedAgain(t *testing.T) {
	eachCache(t, func(g *trial) {
		g.push("v1", "foo", "bar")
		q := &cachev3.DeltaRequest{
			Node: &corev3.Node{Id: node}, TypeUrl: resource.EndpointType, ResourceNamesSubscribe: []string{"bar", "foo", "new"},
		}
		sub := stream.NewDeltaSubscription(q.GetResourceNamesSubscribe(), nil, nil, true)
		answers := make(chan cachev3.DeltaResponse, 1)
		for range 2 {
			if _, err := g.CreateDeltaWatch(q, sub, answers); err != nil {
				g.t.Fatal(err)
			}
			if len(answers) == 0 {
				g.t.Fatal("no answer")
			}
			response := <-answers
			out, err := response.GetDeltaDiscoveryResponse()
			if err != nil || len(out.GetResources()) != 2 || !slices.Equal(out.GetRemovedResources(), []string{"new"}) {
				g.t.Errorf("answered %v, %v", out, err)
			}
			sub.SetReturnedResources(response.GetReturnedResources())
		}
		q.ResourceNamesSubscribe = nil // an ACK
		cancel, err := g.CreateDeltaWatch(q, sub, answers)
		if err != nil {
			g.t.Fatal(err)
		}
		defer cancel()
		if len(answers) > 0 {
			g.t.Error("an ACK is answered")
		}
	})
}

// What a node has from an earlier stream is not sent again.
func TestKnownVersions(t *testing.T) {
	eachCache(t, func(g *trial) {
		g.push("v1", "foo", "bar")
		held, err := g.GetSnapshot(node)
		if err != nil {
			g.t.Fatal(err)
		}
		if err := held.ConstructVersionMap(); err != nil {
			g.t.Fatal(err)
		}
		q := &cachev3.DeltaRequest{
			Node: &corev3.Node{Id: node}, TypeUrl: resource.EndpointType, ResourceNamesSubscribe: []string{"foo"},
			InitialResourceVersions: map[string]string{"foo": held.GetVersionMap(resource.EndpointType)["foo"]},
		}
		answers := make(chan cachev3.DeltaResponse, 1)
		cancel, err := g.CreateDeltaWatch(q, stream.NewDeltaSubscription(q.GetResourceNamesSubscribe(), nil, q.GetInitialResourceVersions(), true), answers)
		if err != nil {
			g.t.Fatal(err)
		}
		defer cancel()
		if len(answers) > 0 {
			g.t.Error("sent again")
		}
	})
}
