package reference

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	statusv3 "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recording"
)

// Client is a small client that keeps every clause of the protocol. Like Envoy, it asks for all clusters and listeners,
// for the endpoints of each cluster, and for the routes with the name of each listener.
type Client struct {
	Delta, Aggregated bool
	Flaw              Flaw

	mu      sync.Mutex
	conn    *grpc.ClientConn
	types   map[string]*Subscription
	streams map[string]*clientStream // by type; empty: the aggregated one
	wanted  map[string]chan struct{} // closed when a stream is needed
}

// Flaw is what a client does wrong. It is in the parts of it that are not nil.
type Flaw struct {
	Request  func(c *Client, q proto.Message) []proto.Message            // what is sent instead of a request
	Judge    func(c *Client, p proto.Message, why string) (again string) // why it rejects a response; empty: it does not
	Ends     func(why string) bool                                       // it ends the stream instead of a NACK
	Returns  func(s *Subscription) (asks bool)                           // what it asks for after a stream has ended
	Answers  bool                                                        // it answers types that it has not requested
	Restless bool                                                        // it does not wait before it opens a stream again
}

// Subscription is what a client knows about a type.
type Subscription struct {
	Type     string
	Names    []string // of what it wants; none: all
	Nonce    string   // of the last response
	Version  string   // SotW: that it uses
	Versions map[string]string
	asked    bool // on the stream
}

type clientStream struct {
	grpc.ClientStream
	cancel context.CancelFunc
	begun  bool
}

// Run connects to a management server, and follows it until the context ends.
func (c *Client) Run(ctx context.Context, address string) error {
	var err error
	if c.conn, err = grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials())); err != nil {
		return err
	}
	defer c.conn.Close()
	c.types, c.streams, c.wanted = map[string]*Subscription{}, map[string]*clientStream{}, map[string]chan struct{}{}
	for _, url := range followed {
		c.types[url] = &Subscription{Type: url, Versions: map[string]string{}}
		c.wanted[url] = make(chan struct{})
	}
	close(c.wanted[Clusters])
	close(c.wanted[Listeners])
	if c.Aggregated {
		c.follow(ctx, "")
		return ctx.Err()
	}
	var all sync.WaitGroup
	for _, url := range followed {
		all.Go(func() {
			select {
			case <-c.wanted[url]:
				c.follow(ctx, url)
			case <-ctx.Done():
			}
		})
	}
	all.Wait()
	return ctx.Err()
}

// followed are the types that the client asks for.
var followed = []string{Clusters, Endpoints, Listeners, Routes}

// The times between streams that fail.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = time.Second
)

// follow keeps a stream open.
func (c *Client) follow(ctx context.Context, key string) {
	pause := firstPause
	for ctx.Err() == nil {
		if c.stream(ctx, key) {
			pause = firstPause
		}
		if !c.Flaw.Restless {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
		pause = min(2*pause, lastPause)
	}
}

// stream opens a stream, and follows it until it ends. It reports whether something has come.
func (c *Client) stream(ctx context.Context, key string) (answered bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	method := recording.Method(protocol.Opened{Delta: c.Delta, TypeURL: key})
	st, err := c.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return false
	}
	c.begin(key, &clientStream{ClientStream: st, cancel: cancel})
	defer c.end(key)
	for {
		var p proto.Message = &discoveryv3.DiscoveryResponse{}
		if c.Delta {
			p = &discoveryv3.DeltaDiscoveryResponse{}
		}
		if st.RecvMsg(p) != nil {
			return answered
		}
		answered = true
		c.take(key, p)
	}
}

// begin asks for everything that the client is interested in.
func (c *Client) begin(key string, st *clientStream) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams[key] = st
	for _, url := range followed {
		s := c.types[url]
		if key != "" && key != url || len(s.Names) == 0 && url != Clusters && url != Listeners {
			continue
		}
		s.asked = false
		if c.Flaw.Returns == nil || c.Flaw.Returns(s) {
			c.ask(s, s.Names, nil)
		}
	}
}

func (c *Client) end(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.streams, key)
	for url, s := range c.types {
		if key == "" || key == url {
			s.Nonce = ""
		}
	}
}

// ask subscribes to names, and unsubscribes from others.
func (c *Client) ask(s *Subscription, more, less []string) {
	if !c.Delta {
		c.send(s, &discoveryv3.DiscoveryRequest{TypeUrl: s.Type, ResourceNames: s.Names, VersionInfo: s.Version, ResponseNonce: s.Nonce})
		return
	}
	q := &discoveryv3.DeltaDiscoveryRequest{TypeUrl: s.Type, ResourceNamesSubscribe: more, ResourceNamesUnsubscribe: less}
	if !s.asked {
		q.InitialResourceVersions = maps.Clone(s.Versions)
	}
	c.send(s, q)
}

// send sends a request, if there is a stream for it. Only the first one on a stream has the node.
func (c *Client) send(s *Subscription, q proto.Message) {
	st := c.streams[s.Type]
	if c.Aggregated {
		st = c.streams[""]
	}
	if st == nil {
		return
	}
	s.asked = true
	if !st.begun {
		st.begun = true
		switch q := q.(type) {
		case *discoveryv3.DiscoveryRequest:
			q.Node = &corev3.Node{Id: "edge-1"}
		case *discoveryv3.DeltaDiscoveryRequest:
			q.Node = &corev3.Node{Id: "edge-1"}
		}
	}
	all := []proto.Message{q}
	if c.Flaw.Request != nil {
		all = c.Flaw.Request(c, q)
	}
	for _, q := range all {
		_ = st.SendMsg(q) // if the stream has ended, RecvMsg says why
	}
}

// take answers a response. One of a type that the client has not requested is ignored.
func (c *Client) take(key string, m proto.Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	url := m.(interface{ GetTypeUrl() string }).GetTypeUrl()
	s := c.types[url]
	if s == nil && c.Flaw.Answers {
		s = &Subscription{Type: url, Versions: map[string]string{}}
	}
	if s == nil || key != "" && key != url {
		return
	}
	why := reject(m, s)
	if c.Flaw.Judge != nil {
		why = c.Flaw.Judge(c, m, why)
	}
	if why != "" && c.Flaw.Ends != nil && c.Flaw.Ends(why) {
		c.streams[key].cancel()
		return
	}
	var failure *statusv3.Status
	if why != "" {
		failure = &statusv3.Status{Code: 3, Message: why}
	}
	switch p := m.(type) {
	case *discoveryv3.DiscoveryResponse:
		s.Nonce = p.GetNonce()
		if failure == nil {
			s.Version = p.GetVersionInfo()
		}
		c.send(s, &discoveryv3.DiscoveryRequest{TypeUrl: url, ResourceNames: s.Names, VersionInfo: s.Version, ResponseNonce: s.Nonce, ErrorDetail: failure})
	case *discoveryv3.DeltaDiscoveryResponse:
		s.Nonce = p.GetNonce()
		if failure == nil {
			s.use(p)
		}
		c.send(s, &discoveryv3.DeltaDiscoveryRequest{TypeUrl: url, ResponseNonce: s.Nonce, ErrorDetail: failure})
	}
	if failure == nil {
		c.refer(s, m)
	}
}

// use notes what a response of Delta has brought.
func (s *Subscription) use(p *discoveryv3.DeltaDiscoveryResponse) {
	for _, r := range p.GetResources() {
		if len(s.Names) == 0 || slices.Contains(s.Names, r.GetName()) {
			s.Versions[r.GetName()] = r.GetVersion()
		}
	}
	for _, name := range p.GetRemovedResources() {
		delete(s.Versions, name)
	}
}

// refer subscribes to what clusters and listeners refer to.
func (c *Client) refer(from *Subscription, m proto.Message) {
	to := c.types[map[string]string{Clusters: Endpoints, Listeners: Routes}[from.Type]]
	if to == nil {
		return
	}
	now := slices.Sorted(maps.Keys(from.Versions))
	if p, ok := m.(*discoveryv3.DiscoveryResponse); ok {
		now = nil
		for _, r := range resources(p) {
			now = append(now, r.name)
		}
		slices.Sort(now)
	}
	var more, less []string
	for _, name := range now {
		if !slices.Contains(to.Names, name) {
			more = append(more, name)
		}
	}
	for _, name := range to.Names {
		if !slices.Contains(now, name) {
			less = append(less, name)
			delete(to.Versions, name)
		}
	}
	if len(more)+len(less) == 0 {
		return
	}
	to.Names = now
	select {
	case <-c.wanted[to.Type]:
	default:
		close(c.wanted[to.Type])
	}
	c.ask(to, more, less)
}
