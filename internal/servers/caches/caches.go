// Package caches has caches of go-control-plane that are changed as those who test servers want it.
package caches

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"

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

	"github.com/xdslint/xdslint/internal/reference"
)

// Node is the id of the node that the caches serve.
const Node = "edge-1"

// Cache is a cache that can be changed.
type Cache interface {
	reference.Target
	cache.Cache
}

// All are the caches, by the names that docs/conformance.md has for them.
var All = []struct {
	Name   string
	Create func() Cache
}{
	{"SnapshotCache, ADS mode", func() Cache { return Of(NewSnapshotCache(true), nil) }},
	// With one version for all, it sends endpoints and clusters in the order of a map: only some runs break endpoints-not-resent.
	{"SnapshotCache, a version for each type", func() Cache { return Of(NewSnapshotCache(false), map[string]int{}) }},
	{"MuxCache of LinearCaches", func() Cache { return newLinear() }},
}

// NewSnapshotCache returns an empty one.
func NewSnapshotCache(ads bool) cache.SnapshotCache {
	return cache.NewSnapshotCache(ads, cache.IDHash{}, nil)
}

// Serve registers a cache for all types and transports.
func Serve(ctx context.Context, s *grpc.Server, c cache.Cache, callbacks server.Callbacks) {
	discoveryservice.RegisterAggregatedDiscoveryServiceServer(s, server.NewServer(ctx, c, callbacks))
	ServeSeparately(ctx, s, c, callbacks)
}

// ServeSeparately registers a cache for a stream for each type only.
func ServeSeparately(ctx context.Context, s *grpc.Server, c cache.Cache, callbacks server.Callbacks) {
	xds := server.NewServer(ctx, c, callbacks)
	clusterservice.RegisterClusterDiscoveryServiceServer(s, xds)
	endpointservice.RegisterEndpointDiscoveryServiceServer(s, xds)
	listenerservice.RegisterListenerDiscoveryServiceServer(s, xds)
	routeservice.RegisterRouteDiscoveryServiceServer(s, xds)
}

// snapshots is a SnapshotCache.
type snapshots struct {
	cache.SnapshotCache
	mu        sync.Mutex
	resources map[string]map[string]types.Resource
	version   int
	versions  map[string]int
}

// Of returns a cache that sets snapshots. The versions are those of the types; nil: all types have the same, and get a new
// one with each change.
func Of(in cache.SnapshotCache, versions map[string]int) Cache {
	return &snapshots{SnapshotCache: in, resources: map[string]map[string]types.Resource{}, versions: versions}
}

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
		err = s.SetSnapshot(context.Background(), Node, snapshot)
	}
	if err != nil {
		panic(err) // not in a test
	}
}

// linear is a MuxCache, with a LinearCache for each type.
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
