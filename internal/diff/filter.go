package diff

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tcpv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
)

// filter is a filter of any kind in a chain.
type filter struct {
	name     string
	any      held // its configuration, inline or discovered
	config   held // the content of any; nil if it is not known
	disabled string
	// discovery describes what applies until the configuration arrives. It does not matter where that comes from.
	discovery held
	unknown   bool // the configuration is discovered, and not given
}

func (s *side) filter(h held, name string, inline *anypb.Any, discovered *corev3.ExtensionConfigSource) filter {
	if discovered == nil {
		return filter{name: name, any: h.with(inline), config: h.open(inline)}
	}
	f := s.discoveredFilter(h, name, discovered)
	f.discovery = h.with(discovered)
	return f
}

func (s *side) discoveredFilter(h held, name string, discovered *corev3.ExtensionConfigSource) filter {
	r := s.find(graph.ExtensionConfig, graph.SourceOf(discovered.GetConfigSource(), h.in.Source), name)
	if r == nil {
		return filter{name: name, unknown: true}
	}
	extension, _ := r.Message.(*corev3.TypedExtensionConfig)
	own := held{r, extension.GetTypedConfig()}
	return filter{name: name, any: own, config: own.open(extension.GetTypedConfig())}
}

// filters adds the filters in their order, and the settings of each. Kind is their name for people.
func (s *side) filters(w Where, kind string, all []filter) {
	if kind == "network filter" && len(all) == 1 && all[0].isManager() {
		s.networkFilter(w, all[0])
		return
	}
	var names, exact []string
	for _, f := range all {
		names, exact = append(names, short(f.name)), append(exact, f.name)
	}
	s.add(&fact{where: w, what: kind + "s", value: orNone(strings.Join(names, ", ")), exact: strings.Join(exact, "\n") + "\n"})
	for _, f := range all {
		if kind == "network filter" {
			s.networkFilter(w, f)
		} else {
			s.settings(w, kind, f)
		}
	}
}

// settings adds the settings of a filter whose configuration is compared field by field.
func (s *side) settings(w Where, kind string, f filter) {
	what := kind + " " + short(f.name)
	s.add(&fact{where: w, what: what, message: f.any, part: true, unknown: f.unknown})
	if f.discovery.message != nil {
		s.add(&fact{where: w, what: what + " until it is discovered", message: f.discovery, part: true, skip: fields{
			"envoy.config.core.v3.ExtensionConfigSource.config_source": true, "envoy.config.core.v3.ExtensionConfigSource.type_urls": true,
		}})
	}
	s.add(&fact{where: w, what: what + ": disabled", value: map[bool]string{true: "no", false: "yes"}[f.disabled == ""], exact: f.disabled + ".", part: true})
}

func (f filter) isManager() bool {
	_, ok := f.config.message.(*hcmv3.HttpConnectionManager)
	return ok
}

func (s *side) networkFilter(w Where, f filter) {
	switch m := f.config.message.(type) {
	case *hcmv3.HttpConnectionManager:
		s.manager(w, f.config, m)
	case *tcpv3.TcpProxy:
		s.tcp(w, f.config, m)
	default:
		s.settings(w, "network filter", f)
	}
}

func (s *side) manager(w Where, h held, m *hcmv3.HttpConnectionManager) {
	s.add(&fact{where: w, what: "protocol", value: "HTTP"})
	s.add(&fact{where: w, what: "HTTP connections", message: h, part: true, skip: fields{
		"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.route_config":            true,
		"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.rds":                     true,
		"envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager.http_filters":            true,
		"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.name":                             true,
		"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.rds_config_source":                true,
		"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.scoped_rds":                       true,
		"envoy.extensions.filters.network.http_connection_manager.v3.ScopedRoutes.scoped_route_configurations_list": true,
	}})
	var list []filter
	for _, f := range m.GetHttpFilters() {
		one := s.filter(h, f.GetName(), f.GetTypedConfig(), f.GetConfigDiscovery())
		if f.GetDisabled() {
			one.disabled = "yes"
		}
		list = append(list, one)
	}
	s.filters(w, "HTTP filter", list)
	s.tables(w, h, m)
}

func (s *side) tcp(w Where, h held, m *tcpv3.TcpProxy) {
	s.add(&fact{where: w, what: "protocol", value: "TCP"})
	var shares []share
	for _, c := range m.GetWeightedClusters().GetClusters() {
		shares = append(shares, share{c.GetName(), uint64(c.GetWeight())})
		s.add(&fact{where: w, what: "cluster " + s.cluster(c.GetName()), message: h.with(c), part: true, skip: fields{
			"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight.name":   true,
			"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.WeightedCluster.ClusterWeight.weight": true,
		}})
	}
	if m.GetCluster() != "" {
		shares = []share{{m.GetCluster(), 1}}
	}
	value, exact := s.shares(shares)
	s.add(&fact{where: w, what: "connections go to", value: value, exact: exact})
	s.add(&fact{where: w, what: "TCP proxy", message: h, part: true, skip: fields{
		"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.cluster":           true,
		"envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy.weighted_clusters": true,
	}})
}
