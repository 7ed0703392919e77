package envoytest

import (
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"
)

// How long Envoy must be silent until a push counts as settled.
const (
	// Everything that was pushed has been answered.
	quiet = 100 * time.Millisecond
	// Something has not been asked for, perhaps never will be.
	patience = 2 * time.Second
	// Envoy asks for listeners only when its clusters have warmed, and gives up on missing endpoints after 15 s.
	warming = 20 * time.Second
)

type stream = grpc.BidiStreamingServer[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse]

// subscription is what Envoy has requested of one type on the current stream.
type subscription struct {
	names  []string // none: all
	nonce  string   // of the last response
	served bool     // that response held resources
	open   bool     // that response has not been answered
}

// server is an ADS server for one Envoy. It answers raw, as a control plane without checks of its own would.
type server struct {
	discoveryv3.UnimplementedAggregatedDiscoveryServiceServer

	grpc *grpc.Server
	port int

	mu        sync.Mutex
	node      *corev3.Node
	stream    stream
	resources Resources // nil before the first push
	subs      map[string]*subscription
	replies   map[string]Reply
	asked     map[string]bool // resourceKey of what was sent
	version   int
	active    time.Time // of the last message in either direction
}

func listen() (*server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &server{grpc: grpc.NewServer(), port: l.Addr().(*net.TCPAddr).Port}
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(s.grpc, s)
	go func() { _ = s.grpc.Serve(l) }()
	return s, nil
}

func (s *server) close() { s.grpc.Stop() }

func (s *server) connected() bool { return s.firstNode() != nil }

func (s *server) firstNode() *corev3.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.node
}

// StreamAggregatedResources is Envoy's only stream; a new one replaces the former.
func (s *server) StreamAggregatedResources(st stream) error {
	s.mu.Lock()
	s.stream, s.subs = st, map[string]*subscription{}
	s.mu.Unlock()
	for {
		request, err := st.Recv()
		if err != nil {
			return err
		}
		if err := s.handle(request); err != nil {
			return err
		}
	}
}

func (s *server) handle(request *discoveryv3.DiscoveryRequest) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = time.Now()
	if s.node == nil {
		s.node = request.GetNode()
	}
	url, names := request.GetTypeUrl(), slices.Sorted(slices.Values(request.GetResourceNames()))
	sub := s.subs[url]
	switch {
	case sub == nil:
		s.subs[url] = &subscription{names: names}
	case request.GetResponseNonce() != sub.nonce:
		return nil // stale: Envoy has yet to see our last response and will answer that
	default:
		if sub.open {
			sub.open = false
			s.note(url, sub, request)
		}
		if slices.Equal(names, sub.names) {
			return nil
		}
		sub.names = names
	}
	return s.send(url)
}

// note records the answer to the last response. A NACK is kept, whatever comes later.
func (s *server) note(url string, sub *subscription, request *discoveryv3.DiscoveryRequest) {
	if before, seen := s.replies[url]; !sub.served || seen && !before.Ack {
		return
	}
	detail := request.GetErrorDetail()
	s.replies[url] = Reply{Ack: detail == nil, Detail: gist(detail.GetMessage())}
}

// send answers a subscription with what is there, even with nothing: Envoy waits for the first answer of each type.
func (s *server) send(url string) error {
	if s.resources == nil {
		return nil
	}
	sub := s.subs[url]
	s.version++
	version := strconv.Itoa(s.version)
	response := &discoveryv3.DiscoveryResponse{VersionInfo: version, Nonce: version, TypeUrl: url}
	for _, r := range s.resources[url] {
		name := resourceName(r)
		if len(sub.names) == 0 || name == "" || slices.Contains(sub.names, name) {
			response.Resources = append(response.Resources, r)
			s.asked[resourceKey(url, name)] = true
		}
	}
	sub.nonce, sub.open, sub.served = version, true, len(response.Resources) > 0
	s.active = time.Now()
	return s.stream.Send(response)
}

// pushOrder sends resources before those that refer to them.
var pushOrder = []string{Secrets, Clusters, Endpoints, Listeners, Routes}

// push sends what Envoy has subscribed to. A failed send is not an error here: Envoy crashed, or opens a new stream.
func (s *server) push(r Resources) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.resources, s.replies, s.asked, s.active = r, map[string]Reply{}, map[string]bool{}, time.Now()
	urls := slices.Clone(pushOrder)
	for url := range s.subs {
		if !slices.Contains(pushOrder, url) {
			urls = append(urls, url)
		}
	}
	for _, url := range urls {
		if s.subs[url] != nil {
			_ = s.send(url)
		}
	}
}

func (s *server) settled() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, sub := range s.subs {
		if sub.open {
			return false
		}
	}
	idle := time.Since(s.active)
	switch {
	case s.subs[Listeners] == nil:
		return idle > warming
	case len(s.unasked()) > 0:
		return idle > patience
	}
	return idle > quiet
}

func (s *server) result() Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Result{Replies: s.replies, Unasked: s.unasked()}
}

func (s *server) unasked() []string {
	var keys []string
	for url, resources := range s.resources {
		for _, r := range resources {
			if key := resourceKey(url, resourceName(r)); !s.asked[key] {
				keys = append(keys, key)
			}
		}
	}
	slices.Sort(keys)
	return keys
}

func resourceKey(url, name string) string { return url + " " + name }

// resourceName returns the name under which Envoy requests a resource. A resource that cannot be decoded does not have
// one and is always sent.
func resourceName(r *anypb.Any) string {
	m, err := r.UnmarshalNew()
	if err != nil {
		return ""
	}
	for _, field := range []protoreflect.Name{"name", "cluster_name"} {
		if fd := m.ProtoReflect().Descriptor().Fields().ByName(field); fd != nil {
			return m.ProtoReflect().Get(fd).String()
		}
	}
	return ""
}
