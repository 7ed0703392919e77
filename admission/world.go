package admission

import (
	"errors"
	"slices"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// urls and kinds are those of go-control-plane's types. The kind of a type that Envoy does not know is empty.
var (
	urls  [types.UnknownType]string
	kinds [types.UnknownType]graph.Kind

	authorities []graph.Assumed // names whose servers are defined in a bootstrap (config_sources, default_config_source)
)

func init() {
	for t := range types.UnknownType {
		urls[t], _ = cachev3.GetResponseTypeURL(t) // it knows all of them
		kinds[t] = graph.KindOf(decode.TypeName(urls[t]))
		authorities = append(authorities, graph.Assumed{Kind: kinds[t], Glob: "xdstp:*"})
	}
}

// world is the types of which the gate's cache serves all resources: those that a node ever had or was to have.
type world [types.UnknownType]bool

// bootstrap is what nodes know before anything is pushed.
type bootstrap struct {
	resources []*graph.Resource
	closed    []scope // what it contains completely
	dynamic   []graph.Kind
	elsewhere []graph.Assumed // what other servers may have
}

type scope struct {
	kind graph.Kind
	from graph.Source
}

// bootstrapOf reads a bootstrap. If there is none, listeners and clusters may exist that are not pushed.
func bootstrapOf(given *graph.Snapshot, target dataplane.Target) (bootstrap, error) {
	if target.Family() == dataplane.GRPC {
		return bootstrapOfGRPC(given)
	}
	if given == nil {
		return bootstrap{elsewhere: authorities}, nil
	}
	b, _ := given.Bootstrap()
	if b == nil {
		return bootstrap{}, errors.New("admission.Options.Bootstrap does not contain a readable bootstrap")
	}
	made := bootstrap{resources: given.Resources}
	if len(b.GetConfigSources()) > 0 || b.GetDefaultConfigSource() != nil {
		made.elsewhere = authorities
	} else {
		made.dynamic = onlyPushed(b)
	}
	seen := map[scope]bool{}
	note := func(kind graph.Kind, from graph.Source) {
		at := scope{kind, from}
		if from == graph.Anywhere || seen[at] || given.Opened(kind) || given.World(kind, from) != graph.Closed {
			return
		}
		seen[at] = true
		made.closed = append(made.closed, at)
	}
	note(graph.Secret, graph.Static)
	for _, r := range given.Resources {
		note(r.Kind, r.Source)
	}
	for _, e := range given.References() {
		note(e.Kind, e.Source)
	}
	return made, nil
}

// bootstrapOfGRPC reads a bootstrap of gRPC. Clients have no resources but those that are pushed.
func bootstrapOfGRPC(given *graph.Snapshot) (bootstrap, error) {
	made := bootstrap{elsewhere: authorities, dynamic: []graph.Kind{graph.Cluster, graph.Listener}}
	if given == nil {
		return made, nil
	}
	if made.resources = given.All(graph.GRPCBootstrap); len(made.resources) == 0 {
		return bootstrap{}, errors.New("admission.Options.Bootstrap does not contain a readable bootstrap of gRPC")
	}
	return made, nil
}

// onlyPushed lists the kinds of which a node has only the resources of the bootstrap and those that one server pushes.
func onlyPushed(b *bootstrapv3.Bootstrap) []graph.Kind {
	var all []graph.Kind
	d := b.GetDynamicResources()
	if served(d.GetCdsConfig()) && d.GetCdsResourcesLocator() == "" {
		all = append(all, graph.Cluster)
	}
	if served(d.GetLdsConfig()) && d.GetLdsResourcesLocator() == "" {
		all = append(all, graph.Listener)
	}
	return all
}

// served reports whether a ConfigSource names a server, not a file.
func served(cs *corev3.ConfigSource) bool {
	return cs == nil || cs.GetPath() == "" && cs.GetPathConfigSource() == nil //nolint:staticcheck // deprecated, and in use
}

// graph builds the graph of what a node knows when these resources are pushed to it.
func (g *Gate) graph(pushed []*graph.Resource, w world) *graph.Snapshot {
	s := &graph.Snapshot{NoBootstrap: true, Assumptions: g.options.Assumptions}
	s.Assumptions.Names = slices.Concat(s.Assumptions.Names, g.bootstrap.elsewhere)
	s.Add(g.bootstrap.resources...)
	s.Add(pushed...)
	for _, at := range g.bootstrap.closed {
		s.Complete(at.kind, at.from)
	}
	for t, all := range w {
		if all {
			s.Complete(kinds[t], graph.ADS)
		}
	}
	for _, kind := range g.bootstrap.dynamic {
		if w.has(kind) {
			s.Complete(kind, graph.Anywhere)
		}
	}
	s.Build()
	if w.has(graph.ScopedRouteConfiguration) && w.has(graph.RouteConfiguration) && scopesOverADS(s) {
		s.Complete(graph.RouteConfiguration, graph.Anywhere)
	}
	return s
}

// scopesOverADS reports whether ADS serves all route configurations, including those that scopes name. A scope that comes over SRDS does not name
// the source of its route configuration: its listener does.
func scopesOverADS(s *graph.Snapshot) bool {
	for _, e := range s.References() {
		if e.Kind == graph.RouteConfiguration && e.Source != graph.ADS && e.Source != graph.Anywhere {
			return false
		}
	}
	ads, others := 0, 0
	for _, r := range s.All(graph.Listener) {
		r.Walk(func(at *graph.Place) {
			scopes, ok := at.Message.Interface().(*hcmv3.ScopedRoutes)
			switch {
			case !ok:
			case graph.SourceOf(scopes.GetRdsConfigSource(), r.Source) == graph.ADS:
				ads++
			default:
				others++
			}
		})
	}
	return ads > 0 && others == 0
}

func (w world) has(kind graph.Kind) bool {
	for t, all := range w {
		if all && kinds[t] == kind {
			return true
		}
	}
	return false
}
