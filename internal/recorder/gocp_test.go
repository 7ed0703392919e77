package recorder_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/xdslint/xdslint/internal/recorder"
)

// cached is go-control-plane's SnapshotCache behind a recording proxy, whose clock can jump.
type cached struct {
	t     *testing.T
	ctx   context.Context
	cache cache.SnapshotCache
	grpc  *grpc.Server
	proxy *recorder.Proxy
	out   *recorder.Writer
	path  string
	conn  *grpc.ClientConn
	later atomic.Int64 // by how much the clock is ahead
}

func newCached(t *testing.T) *cached {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	c := &cached{t: t, ctx: ctx, cache: cache.NewSnapshotCache(true, cache.IDHash{}, nil), grpc: grpc.NewServer(grpc.WaitForHandlers(true))}
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(c.grpc, server.NewServer(ctx, c.cache, nil))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = c.grpc.Serve(l) }() // until Stop
	var addr string
	c.proxy, c.out, c.path, addr = record(t, l.Addr().String())
	c.out.Now = func() time.Time { return time.Now().Add(time.Duration(c.later.Load())) }
	if c.conn, err = grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		t.Fatal(err)
	}
	return c
}

// end returns the clauses that are broken.
func (c *cached) end() (clauses []string) {
	_ = c.conn.Close() // what it loses is not looked at
	c.proxy.Stop()
	c.grpc.Stop()
	for _, finding := range findings(c.t, c.out, c.path) {
		id, _, _ := strings.Cut(finding, ":")
		clauses = append(clauses, id)
	}
	return slices.Compact(clauses)
}

// push sets a snapshot in which each of the clusters named has endpoints at a port.
func (c *cached) push(version, port string, names ...string) {
	c.t.Helper()
	all := map[resource.Type][]types.Resource{}
	for _, name := range names {
		all[resource.ClusterType] = append(all[resource.ClusterType], cluster(c.t, ads, name, "1s"))
		all[resource.EndpointType] = append(all[resource.EndpointType], assignment(c.t, name, port))
	}
	s, err := cache.NewSnapshot(version, all)
	if err == nil {
		err = c.cache.SetSnapshot(c.ctx, "edge-1", s)
	}
	if err != nil {
		c.t.Fatal(err)
	}
}

// client is a client of SotW that asks for endpoints.
type client struct {
	c  *cached
	st discoveryv3.AggregatedDiscoveryService_StreamAggregatedResourcesClient
}

func (c *cached) client() *client {
	st, err := discoveryv3.NewAggregatedDiscoveryServiceClient(c.conn).StreamAggregatedResources(c.ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	return &client{c, st}
}

func (k *client) send(q *discoveryv3.DiscoveryRequest) {
	k.c.t.Helper()
	if err := k.st.Send(q); err != nil {
		k.c.t.Fatal(err)
	}
}

func (k *client) receive() *discoveryv3.DiscoveryResponse {
	k.c.t.Helper()
	p, err := k.st.Recv()
	if err != nil {
		k.c.t.Fatal(err)
	}
	return p
}

func ask(names ...string) *discoveryv3.DiscoveryRequest {
	return &discoveryv3.DiscoveryRequest{Node: &corev3.Node{Id: "edge-1"}, TypeUrl: resource.EndpointType, ResourceNames: names}
}

func ack(p *discoveryv3.DiscoveryResponse, names ...string) *discoveryv3.DiscoveryRequest {
	return &discoveryv3.DiscoveryRequest{TypeUrl: p.GetTypeUrl(), ResourceNames: names, VersionInfo: p.GetVersionInfo(), ResponseNonce: p.GetNonce()}
}

// TestLostWatch: go-control-plane v0.14.0 forgets a client after a snapshot that it cannot answer. A second client of the
// node shows it.
func TestLostWatch(t *testing.T) {
	c := newCached(t)
	c.push("1", "8080", "shop")
	first := c.client()
	first.send(ask("shop"))
	first.send(ack(first.receive(), "shop"))
	c.watched(1)
	c.push("2", "8080", "shop", "cart") // the client has not asked for cart
	c.push("3", "8081", "shop")
	second := c.client()
	second.send(ask("shop"))
	second.send(ack(second.receive(), "shop"))
	c.watched(1) // its ACK is recorded
	c.jump(second)
	if got := c.end(); !slices.Equal(got, []string{"protocol/update-not-sent"}) {
		t.Errorf("found: %v", got)
	}
}

// watched waits until the cache has so many watches.
func (c *cached) watched(n int) {
	for {
		if info := c.cache.GetStatusInfo("edge-1"); info != nil && info.GetNumWatches()+info.GetNumDeltaWatches() == n {
			return
		}
		select {
		case <-c.ctx.Done():
			c.t.Fatal("no watch")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// jump moves the clock ahead, and lets a client ask for something, so that there is an event.
func (c *cached) jump(k *client) {
	c.later.Store(int64(time.Minute))
	k.send(&discoveryv3.DiscoveryRequest{TypeUrl: resource.ClusterType})
	k.send(ack(k.receive()))
}

// TestNACKLoop: go-control-plane v0.14.0 answers each NACK at once.
func TestNACKLoop(t *testing.T) {
	c := newCached(t)
	c.push("1", "8080", "shop")
	k := c.client()
	k.send(ask("shop"))
	for range 20 {
		p := k.receive()
		k.send(&discoveryv3.DiscoveryRequest{
			TypeUrl: p.GetTypeUrl(), ResourceNames: []string{"shop"}, ResponseNonce: p.GetNonce(), ErrorDetail: &statusv3.Status{Code: 13, Message: "no"},
		})
	}
	if got := c.end(); !slices.Equal(got, []string{"protocol/nack-loop"}) {
		t.Errorf("found: %v", got)
	}
}

// TestResubscription: go-control-plane v0.14.0 does not answer a client of Delta that subscribes once more.
func TestResubscription(t *testing.T) {
	c := newCached(t)
	c.push("1", "8080", "shop")
	st, err := discoveryv3.NewAggregatedDiscoveryServiceClient(c.conn).DeltaAggregatedResources(c.ctx)
	if err != nil {
		t.Fatal(err)
	}
	send := func(q *discoveryv3.DeltaDiscoveryRequest) {
		t.Helper()
		if err := st.Send(q); err != nil {
			t.Fatal(err)
		}
	}
	receive := func() {
		t.Helper()
		p, err := st.Recv()
		if err != nil {
			t.Fatal(err)
		}
		send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: p.GetTypeUrl(), ResponseNonce: p.GetNonce()})
	}
	send(&discoveryv3.DeltaDiscoveryRequest{Node: &corev3.Node{Id: "edge-1"}, TypeUrl: resource.EndpointType, ResourceNamesSubscribe: []string{"shop"}})
	receive()
	send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: resource.EndpointType, ResourceNamesSubscribe: []string{"shop"}})
	send(&discoveryv3.DeltaDiscoveryRequest{TypeUrl: resource.ClusterType})
	receive()    // the server has seen the request before
	c.watched(2) // and the ACK
	c.later.Store(int64(time.Minute))
	c.push("2", "8081", "shop")
	receive()
	if got := c.end(); !slices.Equal(got, []string{"protocol/resubscription-unanswered"}) {
		t.Errorf("found: %v", got)
	}
}
