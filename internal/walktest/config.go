package walktest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
)

const filterType = "type.googleapis.com/envoy.extensions.filters.http."

// configuration is a generated bootstrap. Its listener gets a free port.
type configuration struct {
	bootstrap obj
	tls       bool
	proxied   bool
	waits     bool
	wide      bool // more than what pairs of configurations have
}

// generate makes the configuration of a seed. Endpoints are servers at the ports.
func generate(seed uint64, ports map[string]int, certificate [2]string) *configuration {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 7))}
	c := &configuration{tls: m.one(4), proxied: m.one(8)}
	listener := obj{
		"name": "main", "address": obj{"socket_address": obj{"address": "127.0.0.1", "port_value": 0}}, "filter_chains": m.chains(c.tls, certificate),
		"access_log": list{m.accessLog()},
	}
	var inspectors list
	if c.proxied {
		inspectors = append(inspectors, obj{"name": "pp", "typed_config": obj{
			"@type":                                 "type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol",
			"allow_requests_without_proxy_protocol": m.one(2),
		}})
	}
	if c.tls && !m.one(5) {
		inspectors = append(inspectors, obj{"name": "tls", "typed_config": obj{"@type": "type.googleapis.com/envoy.extensions.filters.listener.tls_inspector.v3.TlsInspector"}})
	}
	c.waits = m.waits
	listener["listener_filters"] = inspectors
	var upstreams list
	for _, name := range clusters {
		upstreams = append(upstreams, upstream(name, ports[name], m.one(3)))
	}
	upstreams = append(upstreams, obj{"name": "empty", "type": "STATIC", "connect_timeout": "1s"})
	c.bootstrap = obj{"static_resources": obj{"listeners": list{listener}, "clusters": upstreams}}
	return c
}

func upstream(name string, port int, named bool) obj {
	endpoint := obj{"address": obj{"socket_address": obj{"address": "127.0.0.1", "port_value": port}}}
	if named {
		endpoint["hostname"] = name + ".host"
	}
	return obj{"name": name, "type": "STATIC", "connect_timeout": "5s", "load_assignment": obj{
		"cluster_name": name, "endpoints": list{obj{"lb_endpoints": list{obj{"endpoint": endpoint}}}},
	}}
}

func (m *maker) accessLog() obj {
	return obj{"name": "out", "typed_config": obj{
		"@type":      "type.googleapis.com/envoy.extensions.access_loggers.stream.v3.StdoutAccessLog",
		"log_format": obj{"text_format_source": obj{"inline_string": logFormat}},
	}}
}

// chains returns one filter chain, or several that server names and protocols choose.
func (m *maker) chains(tls bool, certificate [2]string) (all list) {
	if !tls {
		return list{obj{"name": "only", "filters": list{m.manager()}}}
	}
	for i, match := range []obj{
		{"server_names": list{"shop.test"}}, {"server_names": list{"*.shop.test"}}, {"application_protocols": list{"http/1.1"}}, {"transport_protocol": "raw_buffer"}, {},
	} {
		if i < 4 && m.one(2) {
			continue
		}
		c := obj{"name": fmt.Sprintf("c%d", i), "filter_chain_match": match, "filters": list{m.manager()}}
		if i != 3 {
			c["transport_socket"] = m.tlsSocket(certificate)
		}
		if i == 4 && m.one(3) {
			break
		}
		all = append(all, c)
	}
	if len(all) == 0 {
		return m.chains(tls, certificate)
	}
	return all
}

func (m *maker) tlsSocket(certificate [2]string) obj {
	common := obj{"tls_certificates": list{obj{"certificate_chain": obj{"inline_string": certificate[0]}, "private_key": obj{"inline_string": certificate[1]}}}}
	context := obj{"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "common_tls_context": common}
	if m.one(3) {
		common["validation_context"] = obj{"trusted_ca": obj{"inline_string": certificate[0]}}
		context["require_client_certificate"] = m.one(2)
	}
	return obj{"name": "tls", "typed_config": context}
}

func (m *maker) manager() obj {
	c := obj{
		"@type":       "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix": "walk", "access_log": list{m.accessLog()},
	}
	if m.one(2) {
		c["normalize_path"] = true
	}
	if m.one(3) {
		c["merge_slashes"] = true
	}
	if m.one(2) {
		c["path_with_escaped_slashes_action"] = pick(m, "KEEP_UNCHANGED", "REJECT_REQUEST", "UNESCAPE_AND_REDIRECT", "UNESCAPE_AND_FORWARD")
	}
	switch m.IntN(4) {
	case 0:
		c["strip_any_host_port"] = true
	case 1:
		c["strip_matching_host_port"] = true
	}
	if m.one(4) {
		c["strip_trailing_host_dot"] = true
	}
	if m.one(2) {
		c["use_remote_address"] = true
		if m.one(3) {
			c["internal_address_config"] = obj{"cidr_ranges": list{obj{"address_prefix": "127.0.0.0", "prefix_len": 8}}}
		}
	}
	if m.one(4) {
		c["common_http_protocol_options"] = obj{"headers_with_underscores_action": pick(m, "ALLOW", "REJECT_REQUEST", "DROP_HEADER"), "max_headers_count": pick(m, 100, 8)}
	}
	if m.one(4) {
		c["http_protocol_options"] = obj{"accept_http_10": m.one(2), "default_host_for_http_10": pick(m, "shop.test", ""), "allow_absolute_url": m.one(2)}
	}
	if m.one(6) {
		c["scheme_header_transformation"] = obj{"scheme_to_overwrite": pick(m, "http", "https")}
	}
	if m.one(4) {
		c["upgrade_configs"] = list{obj{"upgrade_type": pick(m, "websocket", "CONNECT"), "enabled": !m.one(4)}}
	}
	c["route_config"] = m.table()
	c["http_filters"] = append(m.filters(c["route_config"].(obj)), obj{"name": "router", "typed_config": obj{
		"@type": filterType + "router.v3.Router", "suppress_envoy_headers": m.one(5),
	}})
	return obj{"name": "http", "typed_config": c}
}

func (m *maker) table() obj {
	t := obj{"name": "table", "validate_clusters": false}
	taken := map[string]bool{}
	var hosts list
	for i := range 1 + m.IntN(4) {
		var domains list
		for range 1 + m.IntN(2) {
			d := pick(m, "*", "shop.test", "*.shop.test", "*-eu.shop.test", "shop.*", "www.shop.test", "shop.test:8080", "Admin.test")
			if !taken[d] {
				taken[d] = true
				domains = append(domains, d)
			}
		}
		if domains == nil {
			continue
		}
		host := obj{"name": fmt.Sprintf("h%d", i), "domains": domains}
		var routes list
		for range 1 + m.IntN(7) {
			routes = append(routes, m.route())
		}
		host["routes"] = routes
		if m.one(8) {
			host["require_tls"] = pick(m, "ALL", "EXTERNAL_ONLY")
		}
		if m.one(4) {
			host["include_request_attempt_count"] = true
			host["include_attempt_count_in_response"] = m.one(2)
		}
		m.mutations(host, "host")
		hosts = append(hosts, host)
	}
	t["virtual_hosts"] = hosts
	m.mutations(t, "table")
	if m.one(3) {
		t["most_specific_header_mutations_wins"] = true
	}
	if m.one(4) {
		t["ignore_port_in_host_matching"] = true
	}
	if m.one(4) {
		t["ignore_path_parameters_in_path_matching"] = true
	}
	return t
}

// text returns the bootstrap with a port for the listener.
func (c *configuration) text(port int) string {
	listener := c.bootstrap["static_resources"].(obj)["listeners"].(list)[0].(obj)
	listener["address"].(obj)["socket_address"].(obj)["port_value"] = port
	raw, err := json.MarshalIndent(c.bootstrap, "", " ")
	if err != nil {
		panic(err) // the maker makes only what JSON has
	}
	return string(raw)
}
