package grpctest

import (
	"fmt"
	"net/netip"
)

// server returns the resources of a server, first its listener.
func (m *maker) server(name string, at netip.AddrPort) []object {
	host, port := at.Addr().String(), int(at.Port())
	if m.one(25) {
		host, port = pick(m, host, "10.9.9.9"), pick(m, 0, port, 9090)
	}
	l := object{"@type": config + "listener.v3.Listener", "name": name, "address": object{"socket_address": object{"address": host, "port_value": port}}}
	all := []object{l}
	var chains list
	for i := range m.IntN(6) {
		chain := object{"name": fmt.Sprintf("chain%d", i), "filters": m.networkFilters(&all, fmt.Sprintf("table%d", i))}
		if !m.one(6) {
			chain["filter_chain_match"] = m.chainMatch()
		}
		chains = append(chains, chain)
	}
	l["filter_chains"] = chains
	if !m.one(3) {
		l["default_filter_chain"] = object{"filters": m.networkFilters(&all, "default")}
	}
	return all
}

// chainMatch returns a match of connections. Each field is likely to be the same as in other chains.
func (m *maker) chainMatch() object {
	o := object{}
	ranges := func(prefixes ...string) (all list) {
		for range 1 + m.IntN(2) {
			prefix := netip.MustParsePrefix(pick(m, prefixes...))
			all = append(all, object{"address_prefix": prefix.Addr().String(), "prefix_len": prefix.Bits()})
		}
		return all
	}
	if m.one(2) {
		o["prefix_ranges"] = ranges("10.0.0.0/8", "10.0.0.0/24", "10.1.0.0/16", "0.0.0.0/0", "2001:db8::/32")
	}
	if m.one(3) {
		o["source_type"] = pick(m, "SAME_IP_OR_LOOPBACK", "EXTERNAL")
	}
	if m.one(2) {
		o["source_prefix_ranges"] = ranges("192.168.0.0/16", "10.0.0.0/8", "10.0.0.9/32", "127.0.0.0/8", "::/0")
	}
	if m.one(3) {
		o["source_ports"] = list{1000}
	}
	switch m.IntN(16) {
	case 0:
		o["transport_protocol"] = pick(m, "raw_buffer", "tls")
	case 1:
		o["server_names"] = list{"orders.shop"}
	case 2:
		o["destination_port"] = 8080
	case 3:
		o["application_protocols"] = list{"h2"}
	}
	return o
}

func (m *maker) networkFilters(all *[]object, table string) list {
	hcm := object{"@type": extensions + "filters.network.http_connection_manager.v3.HttpConnectionManager", "http_filters": list{
		object{"name": "router", "typed_config": object{"@type": extensions + "filters.http.router.v3.Router"}},
	}}
	if m.one(2) {
		hcm["http_filters"] = append(list{object{"name": "rbac", "typed_config": m.rbac()}}, hcm["http_filters"].(list)...)
	}
	routes := object{"name": table, "virtual_hosts": m.handlers()}
	if m.one(2) {
		hcm["route_config"] = routes
	} else {
		hcm["rds"] = object{"route_config_name": table, "config_source": object{"ads": object{}}}
		*all = append(*all, with(routes, "@type", config+"route.v3.RouteConfiguration"))
	}
	return list{object{"name": "hcm", "typed_config": hcm}}
}

// handlers returns the virtual hosts of a server.
func (m *maker) handlers() (all list) {
	for i := range 1 + m.IntN(2) {
		var routes list
		for j := range m.IntN(3) {
			r := m.rbacOverrides(object{"name": fmt.Sprintf("r%d", j), "match": m.match(), "non_forwarding_action": object{}})
			if m.one(8) {
				delete(r, "non_forwarding_action")
				r["route"] = pick(m, object{"cluster": "a"}, object{"cluster_header": "x-env"})
			}
			routes = append(routes, r)
		}
		if !m.one(5) {
			routes = append(routes, m.rbacOverrides(object{"match": object{"prefix": ""}, "non_forwarding_action": object{}}))
		}
		domains := list{pick(m, service, "*", "*", "*", "*.shop:443", "orders.*", "orders.shop")}
		all = append(all, m.rbacOverrides(object{"name": fmt.Sprintf("host%d", i), "domains": domains, "routes": routes}))
	}
	return all
}

func (m *maker) rbacOverrides(o object) object {
	if m.one(6) {
		override := object{"@type": extensions + "filters.http.rbac.v3.RBACPerRoute"}
		if !m.one(4) {
			override["rbac"] = with(m.rbac(), "@type", nil)
			delete(override["rbac"].(object), "@type")
		}
		o["typed_per_filter_config"] = object{"rbac": override}
		if m.one(4) {
			o["typed_per_filter_config"] = object{"rbac": object{"@type": config + "route.v3.FilterConfig", "config": override, "disabled": m.one(2)}}
		}
	}
	return o
}

func (m *maker) rbac() object {
	o := object{"@type": extensions + "filters.http.rbac.v3.RBAC"}
	if m.one(12) {
		return o
	}
	policies := object{}
	for i := range 1 + m.IntN(2) {
		policies[fmt.Sprintf("p%d", i)] = object{"permissions": list{m.permission(2)}, "principals": list{m.principal(2)}}
	}
	o["rules"] = object{"action": pick(m, "ALLOW", "ALLOW", "DENY", "DENY", "LOG"), "policies": policies}
	return o
}

func (m *maker) permission(depth int) object {
	if depth > 0 && m.one(3) {
		inner := list{m.permission(depth - 1), m.permission(depth - 1)}
		return pick(m, object{"and_rules": object{"rules": inner}}, object{"or_rules": object{"rules": inner}}, object{"not_rule": inner[0]})
	}
	switch m.IntN(8) {
	case 0:
		return object{"header": m.rbacHeader()}
	case 1:
		return object{"url_path": object{"path": object{"prefix": "/shop.Orders/"}}}
	case 2:
		return object{"destination_ip": m.cidr()}
	case 3:
		return object{"destination_port": pick(m, 8080, 80)}
	case 4:
		return object{"metadata": object{"filter": "x", "path": list{object{"key": "y"}}, "value": object{"present_match": true}, "invert": m.one(2)}}
	case 5:
		return object{"requested_server_name": pick(m, object{"exact": ""}, object{"exact": "orders.shop"}, object{"safe_regex": object{"regex": ".*"}})}
	}
	return object{"any": true}
}

func (m *maker) principal(depth int) object {
	if depth > 0 && m.one(3) {
		inner := list{m.principal(depth - 1), m.principal(depth - 1)}
		return pick(m, object{"and_ids": object{"ids": inner}}, object{"or_ids": object{"ids": inner}}, object{"not_id": inner[0]})
	}
	switch m.IntN(8) {
	case 0:
		return object{"header": m.rbacHeader()}
	case 1:
		return object{"direct_remote_ip": m.cidr()}
	case 2:
		return object{"remote_ip": m.cidr()}
	case 3:
		return object{"source_ip": m.cidr()}
	case 4:
		return object{"authenticated": pick(m, object{}, object{"principal_name": object{"exact": ""}})}
	case 5:
		return object{"url_path": object{"path": object{"exact": Method}}}
	}
	return object{"any": true}
}

func (m *maker) cidr() object {
	prefix := netip.MustParsePrefix(pick(m, "10.0.0.0/8", "10.0.0.0/30", "192.168.7.7/32", "127.0.0.1/8", "0.0.0.0/0", "2001:db8::/32"))
	return object{"address_prefix": prefix.Addr().String(), "prefix_len": prefix.Bits()}
}

// rbacHeader returns a matcher of a header, also of those that only RBAC sees.
func (m *maker) rbacHeader() object {
	if m.one(2) {
		return m.header()
	}
	return pick(m,
		object{"name": pick(m, "Host", ":authority"), "string_match": object{"exact": pick(m, service, "orders.shop")}},
		object{"name": ":path", "prefix_match": "/shop."}, object{"name": ":method", "exact_match": pick(m, "POST", "GET")},
		object{"name": "x-env", "prefix_match": ""},
	)
}
