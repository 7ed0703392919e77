package grpctest

import (
	"fmt"
	"math/rand/v2"
)

type (
	object = map[string]any
	list   = []any
)

// maker makes the resources of a client by chance.
type maker struct {
	*rand.Rand
	ports []int // of the backends
	lost  int   // how many resources may still be left out: a client waits 15 seconds for each
}

// pick returns one of several values. Those at the front can be given twice, to make them likely.
func pick[T any](m *maker, all ...T) T { return all[m.IntN(len(all))] }

func (m *maker) one(in int) bool { return m.IntN(in) == 0 }

const (
	extensions = "type.googleapis.com/envoy.extensions."
	config     = "type.googleapis.com/envoy.config."
)

// service is what the channel connects to.
const service = "orders.shop:443"

// clusterNames are those that routes and aggregates may name. The last one never exists.
var clusterNames = []string{"a", "b", "c", "d"}

// resources returns the resources of a snapshot, and the name of the listener.
func (m *maker) resources(listener string) (all []object) {
	hcm := object{"@type": extensions + "filters.network.http_connection_manager.v3.HttpConnectionManager", "http_filters": m.filters()}
	table := object{"name": "table", "virtual_hosts": m.hosts(), "cluster_specifier_plugins": list{object{
		"extension": object{"name": "unknown", "typed_config": object{"@type": "type.googleapis.com/xds.type.v3.TypedStruct", "type_url": "shop.Plugin"}}, "is_optional": true,
	}}}
	if m.one(3) {
		hcm["route_config"] = table
	} else {
		hcm["rds"] = object{"route_config_name": "table", "config_source": object{"ads": object{}}}
		if !m.loses(6) {
			all = append(all, with(table, "@type", config+"route.v3.RouteConfiguration"))
		}
	}
	if m.one(6) {
		hcm["common_http_protocol_options"] = object{"max_stream_duration": "20s"}
	}
	l := object{"@type": config + "listener.v3.Listener", "name": listener, "api_listener": object{"api_listener": hcm}}
	if m.one(60) {
		l = object{"@type": config + "listener.v3.Listener", "name": listener, "address": m.address(), "filter_chains": list{object{"filters": list{object{
			"name": "hcm", "typed_config": with(hcm, "route_config", table),
		}}}}}
	}
	if !m.loses(10) {
		all = append(all, l)
	}
	for i, name := range clusterNames {
		if !m.loses(8) {
			all = append(all, m.cluster(name, i))
		}
		if !m.loses(8) {
			all = append(all, m.load(name+"-endpoints"))
		}
	}
	return all
}

func (m *maker) loses(in int) bool {
	if m.lost == 0 || !m.one(in) {
		return false
	}
	m.lost--
	return true
}

func with(o object, key string, value any) object {
	copied := object{key: value}
	for k, v := range o {
		if k != key && (key != "route_config" || k != "rds") {
			copied[k] = v
		}
	}
	return copied
}

func (m *maker) filters() (all list) {
	if m.one(25) {
		all = append(all, object{"name": "lua", "typed_config": object{"@type": extensions + "filters.http.lua.v3.Lua"}, "is_optional": m.one(2)})
	}
	if m.one(3) {
		all = append(all, object{"name": "fault", "typed_config": m.fault()})
	}
	return append(all, object{"name": "router", "typed_config": object{"@type": extensions + "filters.http.router.v3.Router"}})
}

func (m *maker) fault() object {
	abort := object{"percentage": m.percentage()}
	switch m.IntN(3) {
	case 0:
		abort["http_status"] = pick(m, 404, 503, 418, 200)
	case 1:
		abort["grpc_status"] = pick(m, 5, 7, 14, 99)
	default:
		abort["header_abort"] = object{}
	}
	return object{"@type": extensions + "filters.http.fault.v3.HTTPFault", "abort": abort}
}

func (m *maker) percentage() object {
	return pick(m, object{"numerator": 100}, object{"numerator": 100}, object{}, object{"numerator": 40}, object{"numerator": 3000, "denominator": "TEN_THOUSAND"}, object{"numerator": 500000, "denominator": "MILLION"})
}

func (m *maker) overrides(o object) object {
	if m.one(8) {
		o["typed_per_filter_config"] = object{"fault": m.fault()}
	}
	return o
}

func (m *maker) hosts() (all list) {
	for i := range 1 + m.IntN(3) {
		var domains, routes list
		for range 1 + m.IntN(2) {
			domains = append(domains, pick(m, service, "*", "*", "*.shop:443", "orders.*", "*", "*:443", "orders*", "orders.shop", "*.shop", "Orders.shop:443"))
		}
		if m.one(60) {
			domains = append(domains, pick(m, "or*ders", ""))
		}
		for j := range m.IntN(5) {
			routes = append(routes, m.route(fmt.Sprintf("r%d", j)))
		}
		if !m.one(4) {
			routes = append(routes, object{"match": object{"prefix": ""}, "route": object{"cluster": pick(m, clusterNames...)}})
		}
		host := m.overrides(object{"name": fmt.Sprintf("host%d", i), "domains": domains, "routes": routes})
		if m.one(6) {
			host["retry_policy"] = object{"retry_on": pick(m, "internal", "5xx,cancelled")}
		}
		all = append(all, host)
	}
	return all
}

func (m *maker) route(name string) object {
	r := m.overrides(object{"name": name, "match": m.match()})
	switch m.IntN(14) {
	case 0:
		r["redirect"] = object{"path_redirect": "/"}
	case 1:
		r["non_forwarding_action"] = object{}
	case 2:
		r["route"] = pick(m, object{"cluster_header": "x-env"}, object{"cluster_specifier_plugin": "unknown"}, object{})
	case 3, 4, 5:
		var members list
		for i := range 1 + m.IntN(3) {
			members = append(members, m.overrides(object{"name": pick(m, clusterNames...), "weight": pick(m, 1, 2, 5, 0) + max(0, 1-i)}))
		}
		r["route"] = object{"weighted_clusters": object{"clusters": members}}
	default:
		r["route"] = object{"cluster": pick(m, clusterNames...), "max_stream_duration": object{"max_stream_duration": "30s"}}
	}
	return r
}

func (m *maker) match() object {
	o := pick(
		m, object{"prefix": "/"}, object{"prefix": "/shop.Orders/"}, object{"prefix": "/shop.Orders/Get"}, object{"prefix": "/SHOP."}, object{"prefix": "shop"}, object{"prefix": ""},
		object{"path": "/shop.Orders/Get"}, object{"path": "/shop.orders/list"}, object{"path": "/pay.Cards/Charge"},
		object{"safe_regex": object{"regex": "/shop\\..*"}}, object{"safe_regex": object{"regex": "/shop.Orders/(Get|List)"}}, object{"safe_regex": object{"regex": "List|/pay.Cards/Charge"}},
	)
	o = with(o, "case_sensitive", !m.one(3))
	if m.one(150) {
		o["safe_regex"] = object{"regex": "["}
		delete(o, "prefix")
		delete(o, "path")
	}
	var headers list
	for range max(0, m.IntN(4)-2) {
		headers = append(headers, m.header())
	}
	o["headers"] = headers
	if m.one(5) {
		o["runtime_fraction"] = object{"default_value": m.percentage()}
	}
	if m.one(20) {
		o["query_parameters"] = list{object{"name": "q"}}
	}
	return o
}

func (m *maker) header() object {
	o := object{"name": pick(m, "x-env", "X-Env", "x-id", "x-none", "content-type", "X-Tag-Bin", "x-tag", "x-tag-bin", ":path"), "invert_match": m.one(3)}
	text := func() string { return pick(m, "prod", "PROD", "pro", "od", "7", "application/grpc", "a,b") }
	switch m.IntN(8) {
	case 0:
		o["exact_match"] = text()
	case 1:
		o["prefix_match"] = text()
	case 2:
		o["suffix_match"] = text()
	case 3:
		o["contains_match"] = text()
	case 4:
		o["safe_regex_match"] = object{"regex": pick(m, "pro", "pro.", "[a-z]+", "(?i)prod", ".*")}
	case 5:
		o["range_match"] = object{"start": pick(m, 0, 7, -3), "end": pick(m, 7, 8, 100)}
	case 6:
		o["present_match"] = m.one(2)
	default:
		o["string_match"] = object{pick(m, "exact", "prefix", "suffix", "contains"): text(), "ignore_case": m.one(2)}
	}
	return o
}
