package walktest

import (
	"math/rand/v2"
)

// tokenHeader is where the requests have their tokens, and keyHeader is where they have their API keys.
const (
	tokenHeader = "x-token"
	keyHeader   = "x-key"
	rightKey    = "right"
)

// guardKinds are the guards that the configurations of a GuardReport have.
func guardKinds() []kind {
	return []kind{
		{"rbac", func(m *maker) obj { return m.guardRBAC("RBAC") }, func(m *maker) obj {
			if m.one(3) {
				return typed("rbac.v3.RBACPerRoute", obj{})
			}
			own := m.guardRBAC("RBAC")
			delete(own, "@type")
			return typed("rbac.v3.RBACPerRoute", obj{"rbac": own})
		}},
		{"jwt_authn", (*maker).guardJWT, func(m *maker) obj {
			if m.one(2) {
				return typed("jwt_authn.v3.PerRouteConfig", obj{"disabled": true})
			}
			return typed("jwt_authn.v3.PerRouteConfig", obj{"requirement_name": "need"})
		}},
		{"ext_authz", (*maker).extAuthz, func(m *maker) obj {
			if m.one(2) {
				return typed("ext_authz.v3.ExtAuthzPerRoute", obj{"disabled": true})
			}
			return typed("ext_authz.v3.ExtAuthzPerRoute", obj{"check_settings": obj{"context_extensions": obj{"a": "b"}}})
		}},
		{"oauth2", (*maker).oauth2, nil},
		{"basic_auth", func(*maker) obj { return typed("basic_auth.v3.BasicAuth", obj{"users": users("ann", "secret")}) }, func(*maker) obj {
			return typed("basic_auth.v3.BasicAuthPerRoute", obj{"users": users("bob", "other")})
		}},
		{"local_ratelimit", (*maker).guardLimit, (*maker).guardLimit},
		{"ratelimit", (*maker).globalLimit, nil},
		{"api_key_auth", (*maker).apiKeys, func(m *maker) obj {
			return typed("api_key_auth.v3.ApiKeyAuthPerRoute", obj{"key_sources": list{obj{"header": keyHeader}}})
		}},
	}
}

// guardConfiguration makes a configuration with guards.
func guardConfiguration(seed uint64, ports map[string]int, certificate [2]string, authz int) *configuration {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 23))}
	c := &configuration{tls: m.one(4)}
	table := m.table()
	for _, h := range table["virtual_hosts"].(list) {
		delete(h.(obj), "require_tls")
	}
	filters := m.guards(table)
	m.limitRoutes(table)
	router := obj{"name": "router", "typed_config": obj{"@type": filterType + "router.v3.Router"}}
	manager := obj{
		"@type":       "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix": "walk", "route_config": table, "http_filters": append(filters, router), "upgrade_configs": m.upgrades(filters, router),
		"normalize_path": m.one(2), "merge_slashes": m.one(2), "strip_any_host_port": m.one(2),
		"path_with_escaped_slashes_action": pick(m, "KEEP_UNCHANGED", "REJECT_REQUEST", "UNESCAPE_AND_FORWARD"),
	}
	chain := obj{"name": "only", "filters": list{obj{"name": "http", "typed_config": manager}}}
	if c.tls {
		chain["transport_socket"] = m.guardTLS(certificate)
	}
	listener := obj{"name": "main", "address": obj{"socket_address": obj{"address": "127.0.0.1", "port_value": 0}}, "filter_chains": list{chain}}
	upstreams := list{upstream("authz", authz, false)}
	for _, name := range clusters {
		upstreams = append(upstreams, upstream(name, ports[name], false))
	}
	secret := func(name string) obj {
		return obj{"name": name, "generic_secret": obj{"secret": obj{"inline_string": "secret-of-32-bytes-for-the-bench"}}}
	}
	c.bootstrap = obj{"static_resources": obj{"listeners": list{listener}, "clusters": upstreams, "secrets": list{secret("token"), secret("hmac")}}}
	return c
}

// guards returns one to four guards in any order, and configures them per route.
func (m *maker) guards(table obj) (all list) {
	kinds := guardKinds()
	m.Shuffle(len(kinds), func(i, j int) { kinds[i], kinds[j] = kinds[j], kinds[i] })
	for _, k := range kinds[:1+m.IntN(4)] {
		f := obj{"name": k.name, "typed_config": k.chain(m)}
		if m.one(8) {
			f["disabled"] = true
		}
		all = append(all, f)
		m.perRoute(table, k.name, k)
		for _, h := range table["virtual_hosts"].(list) {
			m.perRoute(h.(obj), k.name, k)
			for _, r := range h.(obj)["routes"].(list) {
				m.perRoute(r.(obj), k.name, k)
			}
		}
	}
	return all
}

// upgrades returns upgrades: with the filters of all other requests, with some of them, or with none.
func (m *maker) upgrades(filters list, router obj) (all list) {
	if m.one(2) {
		all = append(all, obj{"upgrade_type": "websocket"})
		if m.one(2) {
			all[0].(obj)["filters"] = append(append(list{}, filters[m.IntN(len(filters)+1):]...), router)
		}
	}
	return all
}

func (m *maker) guardTLS(certificate [2]string) obj {
	common := obj{"tls_certificates": list{obj{"certificate_chain": obj{"inline_string": certificate[0]}, "private_key": obj{"inline_string": certificate[1]}}}}
	context := obj{"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext", "common_tls_context": common}
	context["require_client_certificate"] = !m.one(3)
	if !m.one(3) {
		common["validation_context"] = obj{"trusted_ca": obj{"inline_string": certificate[0]}}
	}
	return obj{"name": "tls", "typed_config": context}
}

// guardRBAC returns policies about paths and clients.
func (m *maker) guardRBAC(name string) obj {
	c := m.rbac(name)
	if rules, ok := c["rules"].(obj); ok {
		if m.one(2) {
			path := pick(m, obj{"exact": m.path()}, obj{"prefix": "/" + m.word()})
			permission := pick(m, obj{"url_path": obj{"path": path}}, obj{"header": obj{"name": ":path", "string_match": path}})
			rules["policies"] = obj{"path": obj{"permissions": list{permission}, "principals": list{obj{"any": true}}}}
		}
		if m.one(8) {
			rules["action"] = "LOG"
		}
	}
	return c
}

func (m *maker) guardJWT() obj {
	c := m.jwt()
	c["providers"].(obj)["p"].(obj)["from_headers"] = list{obj{"name": tokenHeader}}
	rules := c["rules"].(list)
	if m.one(3) {
		rules[1].(obj)["requires"] = obj{"allow_missing_or_failed": obj{}}
	}
	if m.one(2) {
		c["rules"] = list{obj{"match": obj{pick(m, "prefix", "path"): "/" + m.word()}, "requires": obj{"provider_name": "p"}}}
	}
	return c
}

func (m *maker) extAuthz() obj {
	c := typed("ext_authz.v3.ExtAuthz", obj{
		"http_service": obj{"server_uri": obj{"uri": "http://authz", "cluster": "authz", "timeout": "30s"}}, "failure_mode_allow": m.one(2),
	})
	if m.one(6) {
		c["filter_enabled"] = percent(0)
	}
	return c
}

func (m *maker) oauth2() obj {
	secret := func(name string) obj { return obj{"name": name} }
	config := obj{
		"token_endpoint":         obj{"uri": "http://authz/token", "cluster": "authz", "timeout": "5s"},
		"authorization_endpoint": "https://id.test/authorize", "redirect_uri": "https://shop.test/callback",
		"redirect_path_matcher": obj{"path": obj{"exact": "/callback"}}, "signout_path": obj{"path": obj{"exact": "/signout"}},
		"credentials": obj{"client_id": "shop", "token_secret": secret("token"), "hmac_secret": secret("hmac")},
	}
	if m.one(2) {
		config["pass_through_matcher"] = list{pick(m, obj{"name": "authorization", "string_match": obj{"prefix": "Bearer "}},
			obj{"name": ":path", "string_match": obj{"prefix": "/" + m.word()}})}
	}
	return typed("oauth2.v3.OAuth2", obj{"config": config})
}

func (m *maker) guardLimit() obj {
	c := m.localLimit()
	for _, name := range []string{"filter_enabled", "filter_enforced"} {
		switch m.IntN(6) {
		case 0:
			delete(c, name)
		case 1:
			c[name] = percent(0)
		}
	}
	return c
}

// globalLimit returns a filter whose service never answers as it should, so that requests pass.
func (m *maker) globalLimit() obj {
	service := obj{"transport_api_version": "V3", "grpc_service": obj{"envoy_grpc": obj{"cluster_name": "authz"}, "timeout": "30s"}}
	c := typed("ratelimit.v3.RateLimit", obj{"domain": "walk", "timeout": "30s", "rate_limit_service": service})
	if m.one(6) {
		c["filter_enabled"] = percent(0)
	}
	return c
}

// limitRoutes gives some virtual hosts and routes descriptors of rate limits.
func (m *maker) limitRoutes(table obj) {
	limits := func() list {
		return list{obj{"actions": list{pick(m, obj{"generic_key": obj{"descriptor_value": "all"}}, obj{"request_headers": obj{"header_name": keyHeader, "descriptor_key": "key"}},
			obj{"header_value_match": obj{"descriptor_value": "keyless", "expect_match": m.one(2), "headers": list{obj{"name": keyHeader, "present_match": true}}}})}}}
	}
	for _, h := range table["virtual_hosts"].(list) {
		if m.one(2) {
			h.(obj)["rate_limits"] = limits()
		}
		for _, r := range h.(obj)["routes"].(list) {
			if action, ok := r.(obj)["route"].(obj); ok && m.one(2) {
				action["rate_limits"] = limits()
			}
		}
	}
}

func (m *maker) apiKeys() obj {
	return typed("api_key_auth.v3.ApiKeyAuth", obj{
		"credentials": list{obj{"key": rightKey, "client": "ann"}}, "key_sources": list{obj{"header": keyHeader}},
	})
}
