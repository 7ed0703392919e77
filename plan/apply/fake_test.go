package apply

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpointservice "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	listenerservice "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	routeservice "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/lint"
)

const (
	cds = resource.ClusterType
	eds = resource.EndpointType
	lds = resource.ListenerType
	rds = resource.RouteType
)

// plane is a control plane that listens.
type plane struct {
	cache   cachev3.SnapshotCache
	tracker *Tracker
	address string
	busy    atomic.Bool // the next request keeps its stream busy for a while
}

func newPlane(t *testing.T, transport lint.Transport) *plane {
	t.Helper()
	p := &plane{cache: cachev3.NewSnapshotCache(transport.ADS(), cachev3.IDHash{}, nil), tracker: NewTracker()}
	p.tracker.Callbacks = serverv3.CallbackFuncs{StreamRequestFunc: func(int64, *discoveryv3.DiscoveryRequest) error {
		if p.busy.CompareAndSwap(true, false) {
			time.Sleep(100 * time.Millisecond)
		}
		return nil
	}}
	p.tracker.settle = 200 * time.Millisecond
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address = l.Addr().String()
	server := grpc.NewServer()
	ctx, cancel := context.WithCancel(context.Background())
	xds := serverv3.NewServer(ctx, p.cache, p.tracker)
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, xds)
	clusterservice.RegisterClusterDiscoveryServiceServer(server, xds)
	endpointservice.RegisterEndpointDiscoveryServiceServer(server, xds)
	listenerservice.RegisterListenerDiscoveryServiceServer(server, xds)
	routeservice.RegisterRouteDiscoveryServiceServer(server, xds)
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { cancel(); server.Stop() })
	return p
}

// fake is an Envoy as the control plane sees it: it requests the endpoints and the routes that its clusters and listeners name, ACKs, and
// keeps the routes of old listeners until the test has them drained.
type fake struct {
	t         *testing.T
	transport lint.Transport
	conn      *grpc.ClientConn
	stop      context.CancelFunc
	ctx       context.Context
	done      sync.WaitGroup

	mu       sync.Mutex
	streams  map[string]*link // by key
	has      map[string]map[string]proto.Message
	versions map[string]map[string]string // Delta
	sotw     map[string]string            // the version that it has of a type
	got      []string                     // the responses: TYPE VERSION
	withheld map[string]map[*link]func()  // by type, the last answer of each stream; nil: no delay
	refuses  string                       // the type whose versions v2… are bad
	drains   bool                         // routes of old listeners are kept
	kept     []string                     // the names of those when the streams closed
	broken   []string
	waiting  map[string]bool // clusters that have changed and wait for their endpoints
	closed   bool
}

func connect(t *testing.T, p *plane, transport lint.Transport) *fake {
	t.Helper()
	return connectWith(t, p, transport, nil)
}

// connectWith calls a function that sets the behaviour of the Envoy before it requests anything.
func connectWith(t *testing.T, p *plane, transport lint.Transport, setUp func(*fake)) *fake {
	t.Helper()
	conn, err := grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{
		t: t, transport: transport, conn: conn, streams: map[string]*link{}, has: map[string]map[string]proto.Message{},
		versions: map[string]map[string]string{}, sotw: map[string]string{}, withheld: map[string]map[*link]func(){},
		waiting: map[string]bool{},
	}
	for url := range services {
		f.has[url], f.versions[url] = map[string]proto.Message{}, map[string]string{}
	}
	if setUp != nil {
		setUp(f)
	}
	f.connect()
	t.Cleanup(func() { f.disconnect(); _ = conn.Close() })
	return f
}

func (f *fake) connect() {
	f.ctx, f.stop = context.WithCancel(context.Background())
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = false
	f.ask(cds, nil)
	if eds := f.wants(eds); len(eds) > 0 {
		f.subscribe(resource.EndpointType, eds)
	}
	f.ask(lds, nil)
	if rds := append(f.wants(rds), f.kept...); len(rds) > 0 {
		f.subscribe(resource.RouteType, rds)
	}
}

// disconnect closes all streams, and keeps what the Envoy has.
func (f *fake) disconnect() {
	f.mu.Lock()
	f.closed = true
	if f.drains {
		f.kept = f.asks(rds)
	}
	f.streams = map[string]*link{}
	f.stop()
	f.mu.Unlock()
	f.done.Wait()
}

// reconnect closes all streams of an Envoy, changes what it does, and opens its streams again. Its old streams count as open until the control plane
// has all requests, which may take long on a busy machine.
func (p *plane) reconnect(f *fake, change func()) {
	f.t.Helper()
	settle, before, closed := p.tracker.settle, map[*stream]bool{}, 0
	p.node(func(n *node) {
		p.tracker.settle = longEnough
		maps.Copy(before, n.streams)
	})
	f.does(func() { closed = len(f.streams) })
	f.disconnect()
	f.does(change)
	f.connect()
	f.eventually("the requests after it reconnected", func() bool {
		sent, received, open := 0, 0, 0
		for _, l := range f.streams {
			sent += len(l.asked)
		}
		p.node(func(n *node) {
			for s := range n.streams {
				if before[s] {
					open++
				} else {
					received += len(s.subscriptions)
				}
			}
		})
		return received == sent && open <= len(before)-closed
	})
	p.node(func(n *node) {
		p.tracker.settle = settle
		for s := range n.leaving {
			p.tracker.left(n, s)
		}
	})
}

// node calls f with the node of all Envoys.
func (p *plane) node(f func(*node)) {
	p.tracker.mu.Lock()
	defer p.tracker.mu.Unlock()
	f(p.tracker.node("edge"))
}

func short(url string) string {
	return map[string]string{cds: "CDS", eds: "EDS", lds: "LDS", rds: "RDS"}[url]
}

// wants lists what clusters and listeners refer to.
func (f *fake) wants(url string) []string {
	names := map[string]bool{}
	switch url {
	case eds:
		for name, m := range f.has[cds] {
			if m.(*clusterv3.Cluster).GetType() == clusterv3.Cluster_EDS {
				names[name] = true
			}
		}
	case rds:
		for _, m := range f.has[lds] {
			for _, chain := range m.(*listenerv3.Listener).GetFilterChains() {
				for _, filter := range chain.GetFilters() {
					names[resource.GetHTTPConnectionManager(filter).GetRds().GetRouteConfigName()] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// asks lists the names of a type that are requested.
func (f *fake) asks(url string) []string {
	names := map[string]bool{}
	for _, l := range f.streams {
		if a := l.asked[url]; a != nil {
			maps.Copy(names, a.names)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// check records routes to clusters that do not exist.
func (f *fake) check() {
	for _, name := range f.asks(rds) {
		table, _ := f.has[rds][name].(*routev3.RouteConfiguration)
		for _, host := range table.GetVirtualHosts() {
			for _, route := range host.GetRoutes() {
				if cluster := route.GetRoute().GetCluster(); f.has[cds][cluster] == nil {
					f.broken = append(f.broken, fmt.Sprintf("%s goes to %s, which is not there", name, cluster))
				} else if f.has[eds][cluster] == nil {
					f.broken = append(f.broken, fmt.Sprintf("%s goes to %s, which has no endpoints", name, cluster))
				}
			}
		}
	}
}

// does changes what the Envoy does from now on.
func (f *fake) does(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

// withhold delays the answers of a type, release sends the last one of each stream.
func (f *fake) withhold(url string) {
	f.does(func() { f.withheld[url] = map[*link]func(){} })
}

func (f *fake) release(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answers := f.withheld[url]
	delete(f.withheld, url)
	for _, answer := range answers {
		answer()
	}
}

// drain ends the connections of old listeners.
func (f *fake) drain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drains = false
	f.subscribe(rds, f.wants(rds))
}

// longEnough is how long a test waits for what takes milliseconds unless the machine is busy.
const longEnough = 5 * time.Minute

// eventually waits until the Envoy reaches a state.
func (f *fake) eventually(what string, is func() bool) {
	f.t.Helper()
	for end := time.Now().Add(longEnough); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		f.mu.Lock()
		ok := is()
		f.mu.Unlock()
		if ok {
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.t.Fatalf("not seen in %s: %s; the Envoy got %v", longEnough, what, f.got)
}

// serves waits until the Envoy has all that a snapshot has, and checks that nothing was broken on the way.
func (f *fake) serves(s cachev3.ResourceSnapshot) {
	f.t.Helper()
	if broken := f.arrives(s); len(broken) > 0 {
		f.t.Errorf("on the way: %v", broken)
	}
}

// arrives waits until the Envoy has all that a snapshot has. It returns what was broken on the way: the first snapshot may come in any order.
func (f *fake) arrives(s cachev3.ResourceSnapshot) (broken []string) {
	f.t.Helper()
	f.eventually("the snapshot", func() bool {
		for url := range services {
			want := s.GetResources(url)
			if (url == cds || url == lds) && len(want) != len(f.has[url]) {
				return false
			}
			for name, m := range want {
				if f.has[url][name] == nil || !proto.Equal(withoutTouch(m), withoutTouch(f.has[url][name])) {
					return false
				}
			}
		}
		broken, f.broken = f.broken, nil
		return len(f.waiting) == 0
	})
	return broken
}

// moves connects the Envoy to another control plane.
func (f *fake) moves(p *plane) {
	f.t.Helper()
	f.disconnect()
	_ = f.conn.Close()
	conn, err := grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		f.t.Fatal(err)
	}
	f.conn = conn
	f.t.Cleanup(func() { f.disconnect(); _ = conn.Close() })
	f.connect()
}
