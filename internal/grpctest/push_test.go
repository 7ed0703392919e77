package grpctest

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"
)

// pushed is a client whose management server is given what to push.
type pushed struct {
	*testing.T
	ctx    context.Context
	client *Client
	mu     sync.Mutex
	named  map[string]*anypb.Any
	at     map[string]*endpoint // the endpoint of each cluster
}

// newPushed starts a client that sends RPCs to the cluster "old".
func newPushed(t *testing.T) *pushed {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	b := &backend{server: grpc.NewServer(grpc.UnknownServiceHandler(answer))}
	t.Cleanup(b.server.Stop)
	p := &pushed{T: t, ctx: ctx, named: map[string]*anypb.Any{}, at: map[string]*endpoint{}}
	for _, name := range []string{"old", "new"} {
		at, err := b.listen()
		if err != nil {
			t.Fatal(err)
		}
		p.at[name] = at
	}
	p.set(listenerType, listenerName, "table")
	p.set(routeType, "table", "old")
	p.set(clusterType, "old", "")
	p.set(endpointType, "old", "")
	var err error
	p.client, err = start(func(kind, name string) *anypb.Any {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.named[kind+name]
	}, listenerName, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.client.Close)
	p.reaches("old")
	return p
}

// set puts a resource of the standard chain into what the server has. It pushes nothing.
func (p *pushed) set(kind, name, next string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.named[kind+name] = standard(kind, name, next, p.at[name])
}

func (p *pushed) remove(kind, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.named, kind+name)
}

// push sends what the client has asked for of a type, and waits until the client has accepted it.
func (p *pushed) push(kind string) {
	s := p.client.server
	s.mu.Lock()
	nonce, answer := s.nonce(), make(chan *discoveryv3.DiscoveryRequest, 1)
	s.waiting[nonce] = answer
	err := s.send(kind, s.own(kind), nonce)
	s.mu.Unlock()
	if err != nil {
		p.Fatal(err)
	}
	select {
	case request := <-answer:
		if err := rejection(request); err != nil {
			p.Fatal(err)
		}
	case <-p.ctx.Done():
		p.Fatal(p.ctx.Err())
	}
}

// call sends an RPC, and returns the cluster that got it.
func (p *pushed) call() (cluster string, err error) {
	from := &peer.Peer{}
	err = p.client.conn.Invoke(p.ctx, Method, &emptypb.Empty{}, &emptypb.Empty{}, grpc.Peer(from))
	if p.ctx.Err() != nil {
		p.Fatal(p.ctx.Err())
	}
	for name, at := range p.at {
		if err == nil && from.Addr.String() == net.JoinHostPort(at.host, strconv.Itoa(int(at.port))) {
			return name, nil
		}
	}
	return "", err
}

// reaches sends RPCs until the cluster gets one. None may fail, except at the moment in which grpc-go has new routes, and its balancer does not yet.
func (p *pushed) reaches(cluster string) {
	p.Helper()
	for {
		got, err := p.call()
		if err != nil && !strings.Contains(err.Error(), "unknown cluster selected for RPC") {
			p.Fatalf("an RPC fails: %v", err)
		}
		if got == cluster {
			return
		}
	}
}

// stays sends RPCs, all of which the cluster gets: a hundred, or less on a busy machine, since the client takes what it waits for to be missing after
// 15 seconds.
func (p *pushed) stays(cluster, when string) {
	p.Helper()
	for i, began := 0, time.Now(); i < 100 && time.Since(began) < 5*time.Second; i++ {
		if got, err := p.call(); got != cluster {
			p.Fatalf("%s, an RPC gets to %q, %v", when, got, err)
		}
	}
}

// asks waits until the client has asked for a resource.
func (p *pushed) asks(kind, name string) {
	for {
		p.client.server.mu.Lock()
		asked := slices.Contains(p.client.server.names[kind], name)
		p.client.server.mu.Unlock()
		if asked {
			return
		}
		select {
		case <-p.ctx.Done():
			p.Fatalf("the client does not ask for %s", name)
		case <-time.After(time.Millisecond):
		}
	}
}

// TestPushNewCluster: a client that gets routes to a new cluster keeps the old ones until it has the cluster and its endpoints.
func TestPushNewCluster(t *testing.T) {
	p := newPushed(t)
	p.set(routeType, "table", "new")
	p.push(routeType)
	p.asks(clusterType, "new")
	p.stays("old", "without the new cluster")
	p.set(clusterType, "new", "")
	p.push(clusterType)
	p.asks(endpointType, "new")
	p.stays("old", "without the new endpoints")
	p.set(endpointType, "new", "")
	p.push(endpointType)
	p.reaches("new")
}

// TestPushRemovedCluster: a cluster that is removed before the routes to it fails their RPCs, until there are other routes.
func TestPushRemovedCluster(t *testing.T) {
	p := newPushed(t)
	p.remove(clusterType, "old")
	p.push(clusterType)
	for {
		if _, err := p.call(); status.Code(err) == codes.Unavailable {
			break
		}
	}
	p.set(clusterType, "new", "")
	p.set(endpointType, "new", "")
	p.set(routeType, "table", "new")
	p.push(routeType)
	for {
		if cluster, _ := p.call(); cluster == "new" {
			return
		}
	}
}

// TestPushLeftOut: endpoints and routes that a response leaves out stay.
func TestPushLeftOut(t *testing.T) {
	p := newPushed(t)
	p.remove(endpointType, "old")
	p.push(endpointType)
	p.remove(routeType, "table")
	p.push(routeType)
	p.stays("old", "after responses without what it needs")
}
