package prove

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// canonical is a text that is equal for equal messages. The messages in it are those of a resource.
func canonical(r *graph.Resource, m proto.Message) string {
	if m == nil || !m.ProtoReflect().IsValid() {
		return ""
	}
	return encoded(r.CanonicalOf(m))
}

func encoded(m proto.Message) string {
	// After an error, the bytes that could be written are sufficient.
	bytes, _ := proto.MarshalOptions{AllowPartial: true, Deterministic: true}.Marshal(m)
	return string(bytes)
}

// shallow returns a canonical copy of a message without some of its fields.
func shallow[M proto.Message](r *graph.Resource, m M, without ...protoreflect.Name) M {
	made := m.ProtoReflect().New()
	m.ProtoReflect().Range(func(fd protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		if !slices.Contains(without, fd.Name()) {
			made.Set(fd, v)
		}
		return true
	})
	return r.CanonicalOf(made.Interface()).(M)
}

// ofTable is what a route configuration does with all requests.
func (s *side) ofTable(l *envoy.RouteLevel) string {
	m := shallow(l.At.Resource(), l.Table, "name", "virtual_hosts", "vhds", "validate_clusters")
	s.identify(mirrorsOf(m.GetRequestMirrorPolicies()))
	if chooses(m.GetRequestMirrorPolicies()) {
		return encoded(m) + s.allClusters()
	}
	return encoded(m)
}

// ofHost is what a virtual host does with all of its requests. named reports whether something sees its name.
func (s *side) ofHost(l *envoy.RouteLevel, named bool) string {
	m := shallow(l.At.Resource(), l.Host, "domains", "routes")
	if !named {
		m.Name = ""
	}
	s.identify(mirrorsOf(m.GetRequestMirrorPolicies()))
	if m.GetMatcher() != nil || chooses(m.GetRequestMirrorPolicies()) { // a matcher has routes
		return encoded(m) + s.allClusters()
	}
	return encoded(m)
}

// ofRoute is what a route does with a request. named reports whether something sees its name.
func (s *side) ofRoute(l *envoy.RouteLevel, named bool) string {
	m := shallow(l.At.Resource(), l.Route, "match", "stat_prefix")
	if m.GetRoute().GetPrefixRewrite() != "" || m.GetRoute().GetPathRewritePolicy() != nil || m.GetRedirect().GetPrefixRewrite() != "" {
		m.Match = shallow(l.At.Resource(), l.Route.GetMatch(), "headers", "query_parameters", "cookies", "runtime_fraction") // what matches is replaced
	}
	if !named {
		m.Name = ""
	}
	keys := ""
	if w := m.GetRoute().GetWeightedClusters(); w.GetRuntimeKeyPrefix() != "" { // keys of the runtime end with the names
		for _, c := range w.GetClusters() {
			keys += "\x00" + c.GetName()
		}
	}
	s.identify(clustersOf(m))
	text := encoded(m) + keys
	if choosesAny(m) {
		text += s.allClusters()
	}
	return text
}

// allClusters is what is compared of all clusters, with their names.
func (s *side) allClusters() (text string) {
	for _, name := range s.view.Names(graph.Cluster) {
		text += "\x00" + name + "\x00" + s.identity(name)
	}
	return text
}

// choosesAny reports whether a request or a plugin names a cluster of a route.
func choosesAny(r *routev3.Route) bool {
	action := r.GetRoute()
	return chooses(action.GetRequestMirrorPolicies()) || action.GetClusterHeader() != "" || action.GetClusterSpecifierPlugin() != "" || action.GetInlineClusterSpecifierPlugin() != nil ||
		slices.ContainsFunc(action.GetWeightedClusters().GetClusters(), func(c *routev3.WeightedCluster_ClusterWeight) bool { return c.GetClusterHeader() != "" })
}

// chooses reports whether a request names a cluster that mirrors get.
func chooses(policies []*routev3.RouteAction_RequestMirrorPolicy) bool {
	return slices.ContainsFunc(policies, func(m *routev3.RouteAction_RequestMirrorPolicy) bool { return m.GetClusterHeader() != "" })
}

// identify replaces the names of clusters by what is compared of them.
func (s *side) identify(names []*string) {
	for _, name := range names {
		if *name != "" {
			*name = s.identity(*name)
		}
	}
}

// identity is what is compared of a cluster: its name, unless clusters are compared by their endpoints, and its content.
func (s *side) identity(name string) string {
	if known, ok := s.clusters[name]; ok {
		return known
	}
	s.clusters[name] = name // until it is known: clusters can refer to each other
	made := name
	if all := s.view.Named(graph.Cluster, name); len(all) > 0 {
		content, complete := s.content(all[0])
		if made = name + "\x00" + content; s.ByEndpoints && complete && !s.sees(clusterName) {
			made = content
		}
	} else if s.view.World(graph.Cluster, graph.Anywhere) == graph.Closed && !s.view.Assumes(graph.Cluster, name) {
		made = name + "\x00does not exist"
	}
	s.clusters[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(made)))
	return s.clusters[name]
}

// content is what is compared of a cluster without its name. complete reports whether its endpoints are known.
func (s *side) content(r *graph.Resource) (text string, complete bool) {
	m, ok := r.CanonicalOf(r.Message).(*clusterv3.Cluster)
	if !ok {
		return "", false
	}
	m.Name = ""
	if !s.sees(clusterName) {
		m.AltStatName = ""
	}
	assigned := m.GetLoadAssignment()
	if m.GetType() == clusterv3.Cluster_EDS && m.GetClusterType() == nil {
		assigned = s.assigned(r)
		if complete = assigned != nil; complete { // it does not matter where they come from
			m.EdsClusterConfig, m.ClusterDiscoveryType = nil, &clusterv3.Cluster_Type{Type: clusterv3.Cluster_STATIC}
		}
	} else {
		complete = m.GetClusterType() == nil && m.GetType() != clusterv3.Cluster_ORIGINAL_DST
	}
	complete = complete && !checksByName(m)
	m.LoadAssignment = nil
	text = encoded(m) + "\x00" + encoded(sorted(assigned))
	for _, e := range s.view.From(r) {
		if e.To != nil && e.To != r && e.Kind != graph.ClusterLoadAssignment {
			text += "\x00" + s.referred(e.To)
		}
	}
	return text, complete
}

// checksByName reports whether health checks send the name of the cluster.
func checksByName(c *clusterv3.Cluster) bool {
	return slices.ContainsFunc(c.GetHealthChecks(), func(h *corev3.HealthCheck) bool {
		return h.GetHttpHealthCheck() != nil && h.GetHttpHealthCheck().GetHost() == "" || h.GetGrpcHealthCheck() != nil && h.GetGrpcHealthCheck().GetAuthority() == ""
	})
}

// referred is what is compared of a resource that another one refers to.
func (s *side) referred(r *graph.Resource) string {
	if r.Kind == graph.Cluster {
		return s.identity(r.Name)
	}
	return string(r.Kind) + " " + r.Name + "\x00" + canonical(r, r.Message)
}

// assigned returns the endpoints that EDS has for a cluster, or nil if they are not in the input.
func (s *side) assigned(r *graph.Resource) *endpointv3.ClusterLoadAssignment {
	for _, e := range s.view.From(r) {
		if e.To == nil {
			continue
		}
		if found, ok := e.To.CanonicalOf(e.To.Message).(*endpointv3.ClusterLoadAssignment); ok {
			return found
		}
	}
	return nil
}

// clustersOf returns the fields of a route that name clusters.
func clustersOf(r *routev3.Route) (all []*string) {
	action := r.GetRoute()
	if by, ok := action.GetClusterSpecifier().(*routev3.RouteAction_Cluster); ok {
		all = append(all, &by.Cluster)
	}
	for _, c := range action.GetWeightedClusters().GetClusters() {
		all = append(all, &c.Name)
	}
	return append(all, mirrorsOf(action.GetRequestMirrorPolicies())...)
}

func mirrorsOf(policies []*routev3.RouteAction_RequestMirrorPolicy) (all []*string) {
	for _, m := range policies {
		all = append(all, &m.Cluster)
	}
	return all
}

// sorted orders endpoints, whose order does not matter.
func sorted(m *endpointv3.ClusterLoadAssignment) *endpointv3.ClusterLoadAssignment {
	if m == nil {
		return &endpointv3.ClusterLoadAssignment{}
	}
	m = proto.CloneOf(m)
	m.ClusterName = ""
	for _, l := range m.GetEndpoints() {
		slices.SortFunc(l.LbEndpoints, func(a, b *endpointv3.LbEndpoint) int { return strings.Compare(encoded(a), encoded(b)) })
	}
	slices.SortFunc(m.Endpoints, func(a, b *endpointv3.LocalityLbEndpoints) int { return strings.Compare(encoded(a), encoded(b)) })
	return m
}
