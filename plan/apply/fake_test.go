package apply

import (
	"context"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
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
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

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

// fake is an Envoy as the control plane sees it: it asks for the endpoints and the routes that its clusters and listeners name, ACKs, and
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
	withheld map[string][]func()          // answers that are not given yet; nil: none are withheld
	refuses  string                       // the type whose versions v2… are bad
	drains   bool                         // routes of old listeners are kept
	broken   []string
	waiting  map[string]bool // clusters that have changed and wait for their endpoints
	closed   bool
}

// link is a stream.
type link struct {
	fake   *fake
	stream grpc.ClientStream
	cancel context.CancelFunc
	send   sync.Mutex
	asked  map[string]*asked // by type
}

type asked struct {
	names map[string]bool
	nonce string
}

var services = map[string]string{
	cds: "envoy.service.cluster.v3.ClusterDiscoveryService/%sClusters", eds: "envoy.service.endpoint.v3.EndpointDiscoveryService/%sEndpoints",
	lds: "envoy.service.listener.v3.ListenerDiscoveryService/%sListeners", rds: "envoy.service.route.v3.RouteDiscoveryService/%sRoutes",
}

func connect(t *testing.T, p *plane, transport lint.Transport) *fake {
	t.Helper()
	return connectWith(t, p, transport, nil)
}

// connectWith lets set up what the Envoy does before it asks for anything.
func connectWith(t *testing.T, p *plane, transport lint.Transport, setUp func(*fake)) *fake {
	t.Helper()
	conn, err := grpc.NewClient(p.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{
		t: t, transport: transport, conn: conn, streams: map[string]*link{}, has: map[string]map[string]proto.Message{},
		versions: map[string]map[string]string{}, sotw: map[string]string{}, withheld: map[string][]func(){},
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
	if rds := f.wants(rds); len(rds) > 0 {
		f.subscribe(resource.RouteType, rds)
	}
}

// disconnect closes all streams, and keeps what the Envoy has.
func (f *fake) disconnect() {
	f.mu.Lock()
	f.closed = true
	f.streams = map[string]*link{}
	f.stop()
	f.mu.Unlock()
	f.done.Wait()
}

// link returns the stream for a name of a type, and opens it if need be.
func (f *fake) link(url, name string) *link {
	key, method := "", "envoy.service.discovery.v3.AggregatedDiscoveryService/%sAggregatedResources"
	if !f.transport.ADS() {
		key, method = url+" "+name, services[url]
	}
	if l := f.streams[key]; l != nil {
		return l
	}
	how := "Stream"
	if f.transport.Incremental() {
		how = "Delta"
	}
	ctx, cancel := context.WithCancel(f.ctx)
	stream, err := f.conn.NewStream(ctx, &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/"+fmt.Sprintf(method, how))
	if err != nil {
		f.t.Error(err)
	}
	l := &link{fake: f, stream: stream, cancel: cancel, asked: map[string]*asked{}}
	f.streams[key] = l
	f.done.Go(l.receive)
	return l
}

// subscribe asks for these names of a type and no others.
func (f *fake) subscribe(url string, names []string) {
	if f.transport.ADS() {
		f.ask(url, names)
		return
	}
	for key, l := range f.streams {
		if a := l.asked[url]; a != nil && len(a.names) > 0 && !slices.ContainsFunc(names, func(n string) bool { return a.names[n] }) {
			l.cancel()
			delete(f.streams, key)
		}
	}
	for _, name := range names {
		if f.streams[url+" "+name] == nil {
			f.ask(url, []string{name})
		}
	}
}

func (f *fake) ask(url string, names []string) {
	name := ""
	if len(names) > 0 {
		name = names[0]
	}
	l := f.link(url, name)
	before := l.asked[url]
	now := &asked{names: map[string]bool{}}
	for _, name := range names {
		now.names[name] = true
	}
	if before != nil {
		if maps.Equal(before.names, now.names) {
			return
		}
		now.nonce = before.nonce
	}
	l.asked[url] = now
	if !f.transport.Incremental() {
		l.sotw(url, now, now.nonce, "")
		return
	}
	r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: url}
	if before == nil {
		r.InitialResourceVersions = map[string]string{}
		for name, version := range f.versions[url] {
			if len(names) == 0 || now.names[name] {
				r.InitialResourceVersions[name] = version
			}
		}
	}
	for name := range now.names {
		if before == nil || !before.names[name] {
			r.ResourceNamesSubscribe = append(r.ResourceNamesSubscribe, name)
		}
	}
	if before != nil {
		for name := range before.names {
			if !now.names[name] {
				r.ResourceNamesUnsubscribe = append(r.ResourceNamesUnsubscribe, name)
				delete(f.versions[url], name)
			}
		}
	}
	l.write(r)
}

func (l *link) sotw(url string, a *asked, nonce, refused string) {
	r := &discoveryv3.DiscoveryRequest{
		TypeUrl: url, ResponseNonce: nonce, VersionInfo: l.fake.sotw[url], ResourceNames: slices.Sorted(maps.Keys(a.names)),
	}
	if refused != "" {
		r.ErrorDetail = &status.Status{Code: 13, Message: refused}
	}
	l.write(r)
}

func (l *link) write(m proto.Message) {
	node := &corev3.Node{Id: "edge"}
	switch r := m.(type) {
	case *discoveryv3.DiscoveryRequest:
		r.Node = node
	case *discoveryv3.DeltaDiscoveryRequest:
		r.Node = node
	}
	l.send.Lock()
	defer l.send.Unlock()
	_ = l.stream.SendMsg(m) // fails only when the stream is closed
}

// latency of an Envoy: without it a control plane that does not wait would often be lucky.
const latency = 5 * time.Millisecond

func (l *link) receive() {
	f := l.fake
	for {
		var url, nonce, version string
		var take func()
		if f.transport.Incremental() {
			r := &discoveryv3.DeltaDiscoveryResponse{}
			if l.stream.RecvMsg(r) != nil {
				return
			}
			url, nonce, version = r.GetTypeUrl(), r.GetNonce(), r.GetSystemVersionInfo()
			take = func() { f.takeDelta(r) }
		} else {
			r := &discoveryv3.DiscoveryResponse{}
			if l.stream.RecvMsg(r) != nil {
				return
			}
			url, nonce, version = r.GetTypeUrl(), r.GetNonce(), r.GetVersionInfo()
			take = func() { f.take(r) }
		}
		time.Sleep(latency)
		f.mu.Lock()
		if !f.closed {
			l.handle(url, nonce, version, take)
		}
		f.mu.Unlock()
	}
}

// handle takes a response as Envoy does: what it makes Envoy ask for is asked for before it is ACKed.
func (l *link) handle(url, nonce, version string, take func()) {
	f := l.fake
	l.asked[url].nonce = nonce
	refused := ""
	if url == f.refuses && strings.HasPrefix(version, "v2") {
		refused = "no such thing"
	}
	if refused == "" {
		take()
		f.check()
		switch url {
		case cds:
			f.subscribe(eds, f.wants(eds))
		case lds:
			if !f.drains {
				f.subscribe(rds, f.wants(rds))
			} else {
				f.subscribe(rds, append(f.wants(rds), f.asks(rds)...))
			}
		}
	}
	answer := func() {
		if f.transport.Incremental() {
			r := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResponseNonce: nonce}
			if refused != "" {
				r.ErrorDetail = &status.Status{Code: 13, Message: refused}
			}
			l.write(r)
			return
		}
		l.sotw(url, l.asked[url], nonce, refused)
	}
	if waiting, ok := f.withheld[url]; ok {
		f.withheld[url] = append(waiting, answer)
		return
	}
	answer()
}

func unpack(t *testing.T, a *anypb.Any) proto.Message {
	m, err := a.UnmarshalNew()
	if err != nil {
		t.Error(err)
		return nil
	}
	if wrapped, ok := m.(*discoveryv3.Resource); ok {
		return unpack(t, wrapped.GetResource())
	}
	return m
}

func (f *fake) take(r *discoveryv3.DiscoveryResponse) {
	url := r.GetTypeUrl()
	f.got = append(f.got, short(url)+" "+r.GetVersionInfo())
	f.sotw[url] = r.GetVersionInfo()
	before := f.has[url]
	if url == cds || url == lds {
		f.has[url] = map[string]proto.Message{}
	}
	for _, a := range r.GetResources() {
		m := unpack(f.t, a)
		name := cachev3.GetResourceName(m)
		f.wait(url, name, before[name], m)
		f.has[url][name] = m
	}
}

func (f *fake) takeDelta(r *discoveryv3.DeltaDiscoveryResponse) {
	url := r.GetTypeUrl()
	f.got = append(f.got, short(url)+" "+r.GetSystemVersionInfo())
	for _, one := range r.GetResources() {
		m := unpack(f.t, one.GetResource())
		f.wait(url, one.GetName(), f.has[url][one.GetName()], m)
		f.has[url][one.GetName()] = m
		f.versions[url][one.GetName()] = one.GetVersion()
	}
	for _, name := range r.GetRemovedResources() {
		if url == cds || url == lds { // Envoy ignores all others
			delete(f.has[url], name)
		}
		delete(f.versions[url], name)
	}
}

// wait notes what a changed cluster waits for: over ADS Envoy does not ask for its endpoints again.
func (f *fake) wait(url, name string, before, after proto.Message) {
	switch {
	case url == eds:
		delete(f.waiting, name)
	case url == cds && f.transport.ADS() && before != nil && !proto.Equal(before, after):
		f.waiting[name] = true
	}
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

// asks lists the names of a type that are asked for.
func (f *fake) asks(url string) []string {
	names := map[string]bool{}
	for _, l := range f.streams {
		if a := l.asked[url]; a != nil {
			maps.Copy(names, a.names)
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// check notes routes that lead nowhere.
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

// withhold keeps the answers of a type back, release gives the last of them.
func (f *fake) withhold(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.withheld[url] = []func(){}
}

func (f *fake) release(url string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	answers := f.withheld[url]
	delete(f.withheld, url)
	if len(answers) > 0 {
		answers[len(answers)-1]()
	}
}

// drain ends the connections of old listeners.
func (f *fake) drain() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.drains = false
	f.subscribe(rds, f.wants(rds))
}

// eventually waits until the Envoy is in a state.
func (f *fake) eventually(what string, is func() bool) {
	f.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		f.mu.Lock()
		ok := is()
		f.mu.Unlock()
		if ok {
			return
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.t.Fatalf("not seen in 10 s: %s; the Envoy got %v", what, f.got)
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
