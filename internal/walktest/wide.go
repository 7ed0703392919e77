package walktest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/xdslint/xdslint/internal/walk"
)

// widen adds what the pairs of package prove do not need: more filters, more of the connection manager, and filter chains by address.
func (c *configuration) widen(seed uint64) {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 13))}
	listener := c.bootstrap["static_resources"].(obj)["listeners"].(list)[0].(obj)
	if !c.tls && m.one(3) {
		m.chainsByAddress(listener)
	}
	chains := listener["filter_chains"].(list)
	if d, ok := listener["default_filter_chain"].(obj); ok {
		chains = append(list{d}, chains...)
	}
	for _, chain := range chains {
		manager := chain.(obj)["filters"].(list)[0].(obj)["typed_config"].(obj)
		m.widenManager(manager)
		m.widenTable(manager["route_config"].(obj))
		m.widenFilters(manager)
	}
	for _, cluster := range c.bootstrap["static_resources"].(obj)["clusters"].(list)[:len(clusters)] {
		m.widenCluster(cluster.(obj))
	}
	c.wide, c.waits = true, true // some of the filters wait for the end of requests
}

func cidr(address string, length int) obj {
	return obj{"address_prefix": address, "prefix_len": length}
}

// chainsByAddress replaces the only filter chain by several.
func (m *maker) chainsByAddress(listener obj) {
	all := []obj{
		{"destination_port": 443},
		{"destination_port": 8080},
		{"prefix_ranges": list{cidr("10.9.0.0", 16)}},
		{"prefix_ranges": list{cidr("127.0.0.1", 32)}},
		{"source_prefix_ranges": list{cidr("10.0.0.0", 8)}},
		{"source_prefix_ranges": list{cidr("5.6.7.8", 32), cidr("127.0.0.0", 8)}},
		{"source_type": "SAME_IP_OR_LOOPBACK"},
		{"source_type": "EXTERNAL"},
		{"direct_source_prefix_ranges": list{cidr("127.0.0.0", 8)}},
		{"source_ports": list{1000}},
		{"transport_protocol": "raw_buffer"},
		{"application_protocols": list{"h2c"}},
		{"application_protocols": list{"http/1.1"}},
		{"destination_port": 443, "source_prefix_ranges": list{cidr("10.0.0.0", 8)}},
		{"prefix_ranges": list{cidr("10.0.0.0", 8)}, "source_type": "EXTERNAL"},
		{"server_names": list{"shop.test"}},
		{},
	}
	var chains list
	for i, match := range all {
		if m.one(4) {
			chains = append(chains, obj{"name": fmt.Sprintf("a%d", i), "filter_chain_match": match, "filters": list{m.manager()}})
		}
	}
	if len(chains) == 0 {
		return
	}
	if m.one(2) {
		listener["default_filter_chain"] = obj{"name": "default", "filters": list{m.manager()}}
	}
	listener["filter_chains"] = chains
	if m.one(2) {
		inspectors, _ := listener["listener_filters"].(list)
		listener["listener_filters"] = append(inspectors, obj{"name": "http", "typed_config": obj{
			"@type": "type.googleapis.com/envoy.extensions.filters.listener.http_inspector.v3.HttpInspector",
		}})
	}
}

func (m *maker) widenManager(c obj) {
	if m.one(4) {
		c["xff_num_trusted_hops"] = 1
	}
	if m.one(8) {
		c["skip_xff_append"] = true
	}
	if m.one(6) {
		c["via"] = "edge"
	}
	if m.one(6) {
		c["append_x_forwarded_port"] = true
	}
	if m.one(10) {
		c["max_request_headers_kb"] = 1
	}
	if m.one(8) {
		c["early_header_mutation_extensions"] = list{obj{"name": "early", "typed_config": obj{
			"@type": "type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation",
			"mutations": list{
				obj{"append": obj{"header": obj{"key": pick(m, "x-tier", "x-forwarded-proto", "x-user"), "value": pick(m, "gold", "https", "%REQ(x-n)%")}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"}},
				obj{"remove": pick(m, "x-ver", "referer", "x-forwarded-for")},
			},
		}}}
	}
	if m.one(5) {
		c["local_reply_config"] = m.localReply()
	}
	if m.one(12) {
		c["http_protocol_options"] = obj{"allow_custom_methods": true, "ignore_http_11_upgrade": list{obj{"exact": "websocket"}}}
	}
}

func (m *maker) localReply() obj {
	status := func(op string, n int) obj {
		return obj{"status_code_filter": obj{"comparison": obj{"op": op, "value": obj{"default_value": n, "runtime_key": "none"}}}}
	}
	one := obj{"filter": pick(m, status("EQ", 404), status("GE", 500), status("LE", 403), obj{"response_flag_filter": obj{"flags": list{pick(m, "NR", "NC", "FI")}}},
		obj{"header_filter": obj{"header": m.header()}}, obj{"or_filter": obj{"filters": list{status("EQ", 401), status("EQ", 418)}}})}
	if m.one(2) {
		one["status_code"] = pick(m, 410, 299, 503)
	}
	if m.one(2) {
		one["headers_to_add"] = list{obj{"header": obj{"key": "x-mapped", "value": "yes"}}}
	}
	if m.one(3) {
		one["body"] = obj{"inline_string": "mapped"}
	}
	return obj{"mappers": list{one}}
}

// widenTable adds conditions, rate limits and rewrites to the routes of a table.
func (m *maker) widenTable(t obj) {
	for _, h := range t["virtual_hosts"].(list) {
		host := h.(obj)
		if m.one(5) {
			host["rate_limits"] = list{m.rateLimit()}
		}
		for _, r := range host["routes"].(list) {
			m.widenRoute(r.(obj))
		}
		if m.one(15) {
			m.matchByTree(host)
		}
	}
}

func (m *maker) widenRoute(r obj) {
	match := r["match"].(obj)
	if m.one(10) {
		match["cookies"] = list{obj{"name": pick(m, "session", "plan"), "string_match": m.text(), "invert_match": m.one(3)}}
	}
	if m.one(20) {
		match["dynamic_metadata"] = list{obj{"filter": "envoy.filters.http.jwt_authn", "path": list{obj{"key": "claims"}, obj{"key": "sub"}}, "value": obj{"string_match": obj{"exact": "ann"}}, "invert": m.one(2)}}
	}
	a, forwards := r["route"].(obj)
	if redirect, ok := r["redirect"].(obj); ok && m.one(6) && redirect["prefix_rewrite"] == nil && redirect["regex_rewrite"] == nil && redirect["path_redirect"] == nil {
		redirect["path_rewrite"] = pick(m, "/v/%REQ(x-tier)%", "%REQ(x-none)%")
	}
	if !forwards {
		return
	}
	if m.one(5) {
		a["rate_limits"] = list{m.rateLimit()}
		a["include_vh_rate_limits"] = m.one(3)
	}
	if m.one(8) && a["prefix_rewrite"] == nil && a["regex_rewrite"] == nil && a["path_rewrite_policy"] == nil && match["path_match_policy"] == nil && match["connect_matcher"] == nil {
		a["path_rewrite"] = pick(m, "/v/%REQ(x-tier)%", "%REQ(x-none)%", "/%REQ(:method)%")
	}
	if m.one(8) && a["host_rewrite_literal"] == nil && a["host_rewrite_header"] == nil && a["host_rewrite_path_regex"] == nil && a["auto_host_rewrite"] == nil {
		a["host_rewrite"] = pick(m, "%REQ(x-tier)%.test", "%REQ(x-none)%")
	}
	if m.one(6) {
		a["metadata_match"] = obj{"filter_metadata": obj{"envoy.lb": obj{"version": pick(m, "1", "2")}}}
	}
	if m.one(6) {
		a["hash_policy"] = list{obj{"header": obj{"header_name": "x-user"}}}
	}
	if m.one(6) {
		a["internal_redirect_policy"] = obj{"max_internal_redirects": 1}
	}
	if m.one(8) {
		a["priority"] = "HIGH"
	}
	if m.one(8) {
		a["hedge_policy"] = obj{"hedge_on_per_try_timeout": true}
	}
	if m.one(10) {
		a["cors"] = obj{"allow_origin_string_match": list{obj{"prefix": "https://"}}, "expose_headers": "x-c"}
	}
}

// rateLimit has actions for requests that the requests of the bench are about.
func (m *maker) rateLimit() obj {
	var actions list
	for range 1 + m.IntN(2) {
		actions = append(actions, pick(m,
			obj{"generic_key": obj{"descriptor_value": "all"}}, obj{"request_headers": obj{"header_name": "x-tier", "descriptor_key": "tier", "skip_if_absent": m.one(2)}},
			obj{"remote_address": obj{}}, obj{"destination_cluster": obj{}},
			obj{"header_value_match": obj{"descriptor_value": "user", "expect_match": m.one(2), "headers": list{m.header()}}},
			obj{"query_parameters": obj{"query_parameter_name": "q", "descriptor_key": "q"}},
		))
	}
	return obj{"actions": actions}
}

const inputType = "type.googleapis.com/envoy.type.matcher.v3."

func (m *maker) headerInput() obj {
	return obj{"name": "in", "typed_config": obj{"@type": inputType + "HttpRequestHeaderMatchInput", "header_name": m.headerName()}}
}

func (m *maker) anyInput() obj {
	return pick(m, m.headerInput(), obj{"name": "in", "typed_config": obj{"@type": inputType + "HttpRequestQueryParamMatchInput", "query_param": "q"}})
}

// tree is a matcher of an input that chooses among actions.
func (m *maker) tree(input obj, actions ...obj) obj {
	on := func() obj { return obj{"action": obj{"name": "do", "typed_config": maps.Clone(pick(m, actions...))}} }
	values := obj{"gold": on(), "GET": on(), "v": on()}
	t := obj{}
	if m.one(2) {
		t["on_no_match"] = on()
	}
	switch m.IntN(3) {
	case 0:
		t["matcher_tree"] = obj{"input": input, "exact_match_map": obj{"map": values}}
	case 1:
		t["matcher_tree"] = obj{"input": input, "prefix_match_map": obj{"map": values}}
	default:
		single := func() obj {
			return obj{"single_predicate": obj{"input": input, "value_match": obj{pick(m, "exact", "prefix", "suffix", "contains"): pick(m, "gold", "GET", "al")}}}
		}
		t["matcher_list"] = obj{"matchers": list{
			obj{"predicate": pick(m, single(), obj{"not_matcher": single()}, obj{"and_matcher": obj{"predicate": list{single(), single()}}}), "on_match": on()},
			obj{"predicate": single(), "on_match": on()},
		}}
	}
	return t
}

// matchByTree lets a matcher choose among the routes of a virtual host.
func (m *maker) matchByTree(host obj) {
	var actions []obj
	for _, r := range host["routes"].(list) {
		route := obj{"@type": "type.googleapis.com/envoy.config.route.v3.Route"}
		maps.Copy(route, r.(obj))
		actions = append(actions, route)
	}
	actions = append(actions, obj{"@type": "type.googleapis.com/envoy.config.route.v3.RouteList", "routes": host["routes"]})
	host["matcher"] = m.tree(m.headerInput(), actions...)
	delete(host, "routes")
}

func (m *maker) widenCluster(c obj) {
	if m.one(6) {
		c["lb_subset_config"] = obj{"fallback_policy": pick(m, "NO_FALLBACK", "ANY_ENDPOINT"), "subset_selectors": list{obj{"keys": list{"version"}}}}
		if m.one(2) {
			c["load_assignment"].(obj)["endpoints"].(list)[0].(obj)["lb_endpoints"].(list)[0].(obj)["metadata"] = obj{"filter_metadata": obj{"envoy.lb": obj{"version": "1"}}}
		}
	}
	if m.one(6) {
		const options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"
		c["typed_extension_protocol_options"] = obj{options: obj{
			"@type": "type.googleapis.com/" + options, "explicit_http_config": obj{"http_protocol_options": obj{}},
			"http_filters": list{
				obj{"name": "upstream-mutation", "typed_config": typed("header_mutation.v3.HeaderMutation", obj{"mutations": m.headerMutations("cluster")})},
				obj{"name": "codec", "typed_config": typed("upstream_codec.v3.UpstreamCodec", obj{})},
			},
		}}
	}
}

var secret = []byte("secret-secret-secret-secret")

// token is a token that the filters of the bench judge.
func (m *maker) token() string {
	encode := func(v obj) string { return base64.RawURLEncoding.EncodeToString([]byte(jsonOf(v))) }
	claims := obj{}
	for _, claim := range []obj{
		{"iss": pick(m, "walk", "walk", "walk", "other")},
		{"exp": pick(m, 4102444800, 4102444800, 1000000000)},
		{"sub": pick(m, "ann", "bob")},
		{"nbf": pick(m, 1, 4102444800)},
		{"aud": pick[any](m, "shop", "x", list{"x", "shop"})},
		{"level": pick[any](m, 7, "7", 1.5, true)},
	} {
		if !m.one(4) {
			maps.Copy(claims, claim)
		}
	}
	head := obj{"alg": pick(m, "HS256", "HS256", "HS256", "HS256", "HS512", "none")}
	if m.one(4) {
		head["kid"] = pick(m, "k", "other")
	}
	signed := encode(head) + "." + encode(claims)
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte(signed))
	sum := mac.Sum(nil)
	if m.one(8) {
		sum[0]++
	}
	made := signed + "." + base64.RawURLEncoding.EncodeToString(sum)
	if m.one(15) {
		made = pick(m, "a.b.c", "x", signed, "", made+".")
	}
	return made
}

// widenRequest adds headers that the wider configurations look at.
func (m *maker) widenRequest(r *walk.Request) {
	add := func(chance int, name string, values ...string) {
		if m.one(chance) {
			r.Headers = append(r.Headers, walk.Header{name, pick(m, values...)})
		}
	}
	add(3, "authorization", "Bearer "+m.token())
	add(15, "x-token", m.token())
	add(6, "cookie", "session=gold", "a=b; plan=silver", "session=\"al\"; session=x", "plan=b2;session=POST")
	add(6, "x-key", "abc", "def", "Bearer abc", "")
	add(6, "accept-encoding", "gzip", "br;q=1, gzip;q=0.1", "")
	add(12, "te", "trailers", "gzip")
	add(12, "x-version", "1", "2")
	add(12, "x-forwarded-port", "443")
	add(12, "via", "1.1 before")
	add(15, "referer", "/a#b", "http://u@h/", "a:b", "http://shop.test/y?z")
	for _, name := range []string{
		"x-envoy-original-path", "x-envoy-retry-on", "x-envoy-max-retries", "x-envoy-internal", "x-envoy-force-trace", "x-envoy-original-host",
		"x-envoy-decorator-operation", "x-envoy-upstream-alt-stat-name",
	} {
		add(40, name, "1")
	}
	add(40, "x-envoy-upstream-rq-timeout-ms", "60000") // a busy machine answers before
	if r.HTTP != "2" {
		add(20, "connection", "close", "x-tier", "x-user, close", "x-forwarded-for", "te")
	}
	if m.one(30) {
		raw, _ := json.Marshal(make([]int, 600)) // a long value
		r.Headers = append(r.Headers, walk.Header{"x-long", string(raw)})
	}
}
