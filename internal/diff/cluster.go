package diff

import (
	"fmt"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	httpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/upstreams/http/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
)

// Envoy's default for a cluster's connect timeout.
var defaultConnectTimeout = durationpb.New(5_000_000_000)

const httpOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

func (s *side) readCluster(r *graph.Resource, w Where) {
	s.note(r)
	s.booted[w] = r.Delivery == graph.FromBootstrap
	m, ok := r.Message.(*clusterv3.Cluster)
	if !ok {
		return
	}
	h := held{r, m}
	exact := r.Name
	if w == anyCluster {
		exact = w.Cluster
	}
	s.add(&fact{where: w, what: "name", value: r.Name, exact: exact, exists: true})
	s.add(&fact{where: w, what: "endpoints found by", value: discovery(m)})
	s.endpoints(w, h, m)
	s.protocol(w, h, m)
	s.upstreamTLS(w, h, m.GetTransportSocket())
	timeout := m.GetConnectTimeout()
	if timeout == nil {
		timeout = defaultConnectTimeout
	}
	s.add(&fact{where: w, what: "connect timeout", value: duration(timeout), part: true})
	s.add(&fact{where: w, what: "load balancing", value: balancing(m), part: true})
	s.add(&fact{where: w, what: "", message: h, part: true, skip: fields{
		"envoy.config.cluster.v3.Cluster.name": true, "envoy.config.cluster.v3.Cluster.connect_timeout": true,
		"envoy.config.cluster.v3.Cluster.lb_policy": true, "envoy.config.cluster.v3.Cluster.type": true,
		"envoy.config.cluster.v3.Cluster.eds_cluster_config": true, "envoy.config.cluster.v3.Cluster.load_assignment": true,
		"envoy.config.cluster.v3.Cluster.transport_socket": true, "envoy.config.cluster.v3.Cluster.typed_extension_protocol_options": true,
	}})
}

// discovery describes how the endpoints are found. It does not matter whether the cluster or EDS lists them.
func discovery(m *clusterv3.Cluster) string {
	if custom := m.GetClusterType(); custom != nil {
		return short(custom.GetName())
	}
	switch t := m.GetType(); t {
	case clusterv3.Cluster_STATIC, clusterv3.Cluster_EDS:
		return "a list"
	case clusterv3.Cluster_STRICT_DNS:
		return "DNS"
	case clusterv3.Cluster_LOGICAL_DNS:
		return "DNS, one address at a time"
	case clusterv3.Cluster_ORIGINAL_DST:
		return "each connection's own destination"
	default:
		return t.String()
	}
}

func balancing(m *clusterv3.Cluster) string {
	var all []string
	for _, p := range m.GetLoadBalancingPolicy().GetPolicies() {
		all = append(all, short(p.GetTypedExtensionConfig().GetName()))
	}
	if len(all) > 0 {
		return strings.Join(all, ", else ")
	}
	return strings.ToLower(m.GetLbPolicy().String())
}

// protocol adds the protocol to the cluster's endpoints, and its options.
func (s *side) protocol(w Where, h held, m *clusterv3.Cluster) {
	all := m.GetTypedExtensionProtocolOptions()
	opened := h.open(all[httpOptions])
	options, ok := opened.message.(*httpv3.HttpProtocolOptions)
	if !ok {
		options = &httpv3.HttpProtocolOptions{}
	}
	s.add(&fact{where: w, what: "protocol", value: spoken(m, options)})
	s.add(&fact{where: w, what: "HTTP options", message: h.with(options), told: "protocol", part: true})
	for _, name := range keys(all) {
		if name != httpOptions || !ok {
			s.add(&fact{where: w, what: "options of " + name, value: Set, message: h.with(all[name])})
		}
	}
}

func spoken(m *clusterv3.Cluster, options *httpv3.HttpProtocolOptions) string {
	switch p := options.GetUpstreamProtocolOptions().(type) {
	case *httpv3.HttpProtocolOptions_ExplicitHttpConfig_:
		switch {
		case p.ExplicitHttpConfig.GetHttp2ProtocolOptions() != nil:
			return "HTTP/2"
		case p.ExplicitHttpConfig.GetHttp3ProtocolOptions() != nil:
			return "HTTP/3"
		}
		return "HTTP/1.1"
	case *httpv3.HttpProtocolOptions_UseDownstreamProtocolConfig:
		return "that of the client"
	case *httpv3.HttpProtocolOptions_AutoConfig:
		return "by ALPN"
	}
	switch {
	case m.GetProtocolSelection() == clusterv3.Cluster_USE_DOWNSTREAM_PROTOCOL: //nolint:staticcheck // deprecated, and in use
		return "that of the client"
	case m.GetHttp2ProtocolOptions() != nil: //nolint:staticcheck // deprecated, and in use
		return "HTTP/2"
	}
	return "HTTP/1.1"
}

// endpoints adds the endpoints of the cluster itself or of EDS.
func (s *side) endpoints(w Where, h held, m *clusterv3.Cluster) {
	if m.GetType() != clusterv3.Cluster_EDS || m.GetClusterType() != nil {
		s.add(&fact{where: w, what: "endpoints"})
		s.assignment(w, h, m.GetLoadAssignment())
		return
	}
	eds := m.GetEdsClusterConfig()
	name := eds.GetServiceName()
	if name == "" {
		name = m.GetName()
	}
	r := s.find(graph.ClusterLoadAssignment, graph.SourceOf(eds.GetEdsConfig(), h.in.Source), name)
	if r == nil {
		s.add(&fact{where: w, what: "endpoints", value: "those of " + name + ", which are not given", unknown: true})
		return
	}
	s.add(&fact{where: w, what: "endpoints"})
	if a, ok := r.Message.(*endpointv3.ClusterLoadAssignment); ok {
		s.assignment(w, held{r, a}, a)
	}
}

func (s *side) assignment(w Where, h held, m *endpointv3.ClusterLoadAssignment) {
	s.add(&fact{where: w, what: "endpoints", message: h.with(m), part: true, skip: fields{
		"envoy.config.endpoint.v3.ClusterLoadAssignment.cluster_name": true,
		"envoy.config.endpoint.v3.ClusterLoadAssignment.endpoints":    true,
	}})
	for _, l := range m.GetEndpoints() {
		s.locality(w, h, l)
	}
}

func (s *side) locality(w Where, h held, l *endpointv3.LocalityLbEndpoints) {
	name := localityName(l.GetLocality())
	if l.GetPriority() > 0 {
		name += fmt.Sprintf(", priority %d", l.GetPriority())
	}
	name = strings.TrimPrefix(name, ", ")
	s.add(&fact{where: w, what: strings.TrimSpace("locality " + name), message: h.with(l), part: true, skip: fields{
		"envoy.config.endpoint.v3.LocalityLbEndpoints.locality": true, "envoy.config.endpoint.v3.LocalityLbEndpoints.priority": true,
		"envoy.config.endpoint.v3.LocalityLbEndpoints.lb_endpoints": true, "envoy.config.endpoint.v3.LocalityLbEndpoints.load_balancer_endpoints": true,
		"envoy.config.endpoint.v3.LocalityLbEndpoints.leds_cluster_locality_config": true,
	}})
	all := l.GetLbEndpoints()
	if inner := l.GetLoadBalancerEndpoints(); inner != nil {
		all = inner.GetLbEndpoints()
	}
	for _, e := range all {
		s.endpoint(w, h, e, name)
	}
	leds := l.GetLedsClusterLocalityConfig()
	if leds == nil {
		return
	}
	for _, e := range s.snapshot.From(h.in) {
		if e.Kind != graph.LbEndpoint || e.To == nil || e.Place == nil || e.Place.Message.Interface() != any(leds) {
			continue
		}
		s.note(e.To)
		if one, ok := e.To.Message.(*endpointv3.LbEndpoint); ok {
			s.endpoint(w, held{e.To, one}, one, name)
		}
	}
}

func (s *side) endpoint(w Where, h held, m *endpointv3.LbEndpoint, locality string) {
	name := address(m.GetEndpoint().GetAddress())
	if name == "" {
		name = m.GetEndpointName()
	}
	if name == "" {
		name = "no address"
	}
	w.Endpoint = name
	w = s.free(w, &name, "endpoint")
	w.Endpoint = name
	weight := uint32(1) // Envoy's default
	if m.GetLoadBalancingWeight() != nil {
		weight = m.GetLoadBalancingWeight().GetValue()
	}
	value := fmt.Sprintf("weight %d", weight)
	if locality != "" {
		value += ", " + locality
	}
	if m.GetHealthStatus() != corev3.HealthStatus_UNKNOWN && m.GetHealthStatus() != corev3.HealthStatus_HEALTHY {
		value += ", " + strings.ToLower(m.GetHealthStatus().String())
	}
	s.add(&fact{where: w, what: "endpoint", value: value, exists: true})
	s.add(&fact{where: w, what: "", message: h.with(m), part: true, skip: fields{
		"envoy.config.endpoint.v3.LbEndpoint.load_balancing_weight": true, "envoy.config.endpoint.v3.LbEndpoint.health_status": true,
		"envoy.config.endpoint.v3.Endpoint.address": true,
	}})
	s.add(&fact{where: w, what: "address settings", message: h.with(m.GetEndpoint().GetAddress()), part: true, skip: addressFields})
}

func localityName(l *corev3.Locality) string {
	var parts []string
	for _, p := range []string{l.GetRegion(), l.GetZone(), l.GetSubZone()} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "/")
}
