package reference

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// The types that are served, in the order in which they are pushed over an aggregated stream.
const (
	Clusters     = "type.googleapis.com/envoy.config.cluster.v3.Cluster"
	Endpoints    = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
	Listeners    = "type.googleapis.com/envoy.config.listener.v3.Listener"
	Scopes       = "type.googleapis.com/envoy.config.route.v3.ScopedRouteConfiguration"
	Routes       = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration"
	VirtualHosts = "type.googleapis.com/envoy.config.route.v3.VirtualHost"
)

var order = []string{Clusters, Endpoints, Listeners, Scopes, Routes, VirtualHosts}

// Session is the server's side of a stream.
type Session interface {
	// Request takes a DiscoveryRequest or a DeltaDiscoveryRequest, and returns the responses to it.
	Request(proto.Message) []proto.Message
	// Changed returns the responses to a change of the store.
	Changed() []proto.Message
}

// changed returns the responses of the channels of a session to a change, in the order of their types.
func changed[C any](channels map[string]*C, respond func(ch *C, first bool) []proto.Message) (out []proto.Message) {
	for _, url := range order {
		if ch := channels[url]; ch != nil {
			out = append(out, respond(ch, false)...)
		}
	}
	return out
}

// Store has the resources that are served.
type Store struct {
	// Wrap returns what serves a stream instead of a session; nil: nothing does. An io.Closer is closed at the end of the stream.
	Wrap func(s Session, delta bool) Session

	mu        sync.Mutex
	resources map[string]map[string]resource // by type and name
	versions  map[string]int                 // of the types
	watchers  map[chan struct{}]bool
}

type resource struct {
	body    *anypb.Any
	version int
}

// NewStore returns an empty store.
func NewStore() *Store {
	s := &Store{resources: map[string]map[string]resource{}, versions: map[string]int{}, watchers: map[chan struct{}]bool{}}
	for _, url := range order {
		s.resources[url] = map[string]resource{}
	}
	return s
}

// Open returns a session for a stream. An empty type means that it is aggregated.
func (s *Store) Open(typeURL string, delta bool) Session {
	var session Session = &sotw{store: s, typeURL: typeURL, channels: map[string]*sotwChannel{}}
	if delta {
		session = &deltaSession{store: s, typeURL: typeURL, channels: map[string]*deltaChannel{}}
	}
	if s.Wrap != nil {
		session = s.Wrap(session, delta)
	}
	return session
}

// Set adds or changes a resource.
func (s *Store) Set(name string, m proto.Message) {
	body, err := anypb.New(m)
	if err != nil {
		panic(err) // not in a test
	}
	s.change(body.GetTypeUrl(), func(all map[string]resource, version int) { all[name] = resource{body, version} })
}

// Delete removes a resource.
func (s *Store) Delete(typeURL, name string) {
	s.change(typeURL, func(all map[string]resource, _ int) { delete(all, name) })
}

func (s *Store) change(typeURL string, f func(all map[string]resource, version int)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.versions[typeURL]++
	f(s.resources[typeURL], s.versions[typeURL])
	for watcher := range s.watchers {
		select {
		case watcher <- struct{}{}:
		default: // it has yet to look
		}
	}
}

// get returns the resources of a type that a subscription selects, and the version of the type.
func (s *Store) get(typeURL string, wildcard bool, names map[string]bool) (map[string]resource, string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := maps.Clone(s.resources[typeURL])
	maps.DeleteFunc(out, func(name string, _ resource) bool { return !wildcard && !names[name] && !names[collection(name)] })
	return out, strconv.Itoa(s.versions[typeURL])
}

// collection returns the collection that a name of xdstp is in.
func collection(name string) string { return name[:strings.LastIndexByte(name, '/')+1] + "*" }

// watch returns a channel that gets something when the store changes, until stop is called.
func (s *Store) watch() (changed chan struct{}, stop func()) {
	changed = make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers[changed] = true
	return changed, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, changed)
	}
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
