package conform_test

import (
	"context"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	clusterservice "github.com/envoyproxy/go-control-plane/envoy/service/cluster/v3"
	discoveryservice "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	endpointservice "github.com/envoyproxy/go-control-plane/envoy/service/endpoint/v3"
	listenerservice "github.com/envoyproxy/go-control-plane/envoy/service/listener/v3"
	routeservice "github.com/envoyproxy/go-control-plane/envoy/service/route/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	"github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/reference"
	"github.com/xdslint/xdslint/pull"
)

// snapshots is a SnapshotCache of go-control-plane.
type snapshots struct {
	cache.SnapshotCache
	mu        sync.Mutex
	resources map[string]map[string]types.Resource
	version   int
	// versions has a version for each type. Nil: all types have the same, and get a new one with each change.
	versions map[string]int
}

func newSnapshots(in cache.SnapshotCache, versions map[string]int) *snapshots {
	return &snapshots{SnapshotCache: in, resources: map[string]map[string]types.Resource{}, versions: versions}
}

func newCache(ads bool) cache.SnapshotCache { return cache.NewSnapshotCache(ads, cache.IDHash{}, nil) }

func (s *snapshots) Set(name string, m proto.Message) {
	s.mu.Lock()
	defer s.mu.Unlock()
	url := typeURL(m)
	if s.resources[url] == nil {
		s.resources[url] = map[string]types.Resource{}
	}
	s.resources[url][name] = m
	s.changed(url)
}

func (s *snapshots) changed(url string) {
	if s.versions != nil {
		s.versions[url]++
	}
}

func typeURL(m proto.Message) string {
	return "type.googleapis.com/" + string(m.ProtoReflect().Descriptor().FullName())
}

func (s *snapshots) Delete(url, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.resources[url], name)
	s.changed(url)
}

func (s *snapshots) Publish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	all := map[string][]types.Resource{}
	for url, some := range s.resources {
		all[url] = slices.Collect(maps.Values(some))
	}
	snapshot, err := cache.NewSnapshot(strconv.Itoa(s.version), all)
	for url, version := range s.versions {
		snapshot.Resources[cache.GetResponseType(url)].Version = strconv.Itoa(version)
	}
	if err == nil {
		err = s.SetSnapshot(context.Background(), edge.Id, snapshot)
	}
	if err != nil {
		panic(err) // not in a test
	}
}

// linear is a MuxCache of go-control-plane, with a LinearCache for each type.
type linear struct {
	cache.MuxCache
	caches map[string]*cache.LinearCache
}

func newLinear() *linear {
	l := &linear{caches: map[string]*cache.LinearCache{}}
	l.Caches = map[string]cache.Cache{}
	for _, url := range []string{reference.Clusters, reference.Endpoints, reference.Listeners, reference.Routes} {
		l.caches[url] = cache.NewLinearCache(url)
		l.Caches[url] = l.caches[url]
	}
	l.Classify = func(q *cache.Request) string { return q.GetTypeUrl() }
	l.ClassifyDelta = func(q *cache.DeltaRequest) string { return q.GetTypeUrl() }
	return l
}

func (l *linear) Set(name string, m proto.Message) {
	if err := l.caches[typeURL(m)].UpdateResource(name, m); err != nil {
		panic(err) // not in a test
	}
}

func (l *linear) Delete(url, name string) {
	if err := l.caches[url].DeleteResource(name); err != nil {
		panic(err) // not in a test
	}
}

func (*linear) Publish() {}

// serveCache serves a cache of go-control-plane.
func serveCache(t *testing.T, c cache.Cache, callbacks server.Callbacks) pull.Server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, xds := grpc.NewServer(), server.NewServer(t.Context(), c, callbacks)
	discoveryservice.RegisterAggregatedDiscoveryServiceServer(s, xds)
	clusterservice.RegisterClusterDiscoveryServiceServer(s, xds)
	endpointservice.RegisterEndpointDiscoveryServiceServer(s, xds)
	listenerservice.RegisterListenerDiscoveryServiceServer(s, xds)
	routeservice.RegisterRouteDiscoveryServiceServer(s, xds)
	go func() { _ = s.Serve(l) }() // until Stop
	t.Cleanup(s.Stop)
	return pull.Server{Address: l.Addr().String()}
}

// target is a cache that the scenarios change.
type target interface {
	reference.Target
	cache.Cache
}

var caches = []struct {
	name   string
	create func() target
}{
	{"SnapshotCache, ADS mode", func() target { return newSnapshots(newCache(true), nil) }},
	// With one version for all, it sends endpoints and clusters in the order of a map: only some runs break endpoints-not-resent.
	{"SnapshotCache, a version for each type", func() target { return newSnapshots(newCache(false), map[string]int{}) }},
	{"MuxCache of LinearCaches", func() target { return newLinear() }},
}

var transports = []string{"sotw-ads", "delta-ads", "sotw", "delta"}

// TestGoControlPlane: docs/conformance.md says what go-control-plane breaks.
func TestGoControlPlane(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for many answers that do not come")
	}
	var broken breaches
	t.Run("caches", func(t *testing.T) {
		for _, c := range caches {
			for _, transport := range transports {
				t.Run(c.name+", "+transport, func(t *testing.T) {
					t.Parallel()
					cache := c.create()
					reference.Fill(cache)
					report, err := conform.Run(t.Context(), serveCache(t, cache, nil), conform.Options{
						Node: edge, Wait: 5 * time.Second, Change: reference.Changer(cache),
					}.Only(transport))
					if err != nil {
						t.Fatal(err)
					}
					broken.add(c.name, transport, report)
				})
			}
		}
	})
	var names []string
	for _, c := range caches {
		names = append(names, c.name)
	}
	compareTable(t, "go-control-plane", broken.table(names))
}
