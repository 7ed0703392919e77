package walktest

import (
	"crypto/sha1" //nolint:gosec // what the passwords of the filter are hashed with
	"encoding/base64"
)

// kind is an HTTP filter that the configurations have: its configuration in the chain, and per route.
type kind struct {
	name     string
	chain    func(m *maker) obj
	perRoute func(m *maker) obj // nil: it does not have one
}

var kinds = []kind{
	{"rbac", func(m *maker) obj { return m.rbac("RBAC") }, func(m *maker) obj {
		if m.one(3) {
			return typed("rbac.v3.RBACPerRoute", obj{})
		}
		own := m.rbac("RBAC")
		delete(own, "@type")
		return typed("rbac.v3.RBACPerRoute", obj{"rbac": own})
	}},
	{"cors", func(*maker) obj { return typed("cors.v3.Cors", obj{}) }, (*maker).cors},
	{"csrf", (*maker).csrf, (*maker).csrf},
	{"header_mutation", func(m *maker) obj {
		return typed("header_mutation.v3.HeaderMutation", obj{"mutations": m.headerMutations("chain"), "most_specific_header_mutations_wins": m.one(2)})
	}, func(m *maker) obj {
		return typed("header_mutation.v3.HeaderMutationPerRoute", obj{"mutations": m.headerMutations("per-route")})
	}},
	{"fault", (*maker).fault, (*maker).fault},
	{"buffer", func(m *maker) obj { return typed("buffer.v3.Buffer", obj{"max_request_bytes": pick(m, 5, 100)}) }, func(m *maker) obj {
		if m.one(2) {
			return typed("buffer.v3.BufferPerRoute", obj{"disabled": true})
		}
		return typed("buffer.v3.BufferPerRoute", obj{"buffer": obj{"max_request_bytes": pick(m, 1, 20)}})
	}},
	{
		"basic_auth", func(*maker) obj {
			return typed("basic_auth.v3.BasicAuth", obj{"users": users("ann", "secret"), "forward_username_header": "x-name"})
		},
		func(*maker) obj { return typed("basic_auth.v3.BasicAuthPerRoute", obj{"users": users("bob", "other")}) },
	},
	{"health_check", func(m *maker) obj {
		c := obj{"pass_through_mode": m.one(3), "headers": list{obj{"name": ":path", "string_match": obj{"prefix": "/health"}}}}
		if c["pass_through_mode"] == false && m.one(2) {
			c["cluster_min_healthy_percentages"] = obj{pick(m, "shop", "missing", "empty"): obj{"value": 50}}
		}
		return typed("health_check.v3.HealthCheck", c)
	}, nil},
	{"local_ratelimit", func(m *maker) obj { return m.localLimit() }, func(m *maker) obj { return m.localLimit() }},
	{"jwt_authn", (*maker).jwt, func(m *maker) obj {
		if m.one(2) {
			return typed("jwt_authn.v3.PerRouteConfig", obj{"disabled": true})
		}
		return typed("jwt_authn.v3.PerRouteConfig", obj{"requirement_name": "need"})
	}},
}

func typed(name string, config obj) obj {
	config["@type"] = filterType + name
	return config
}

// filters returns HTTP filters, and configures some of them per route.
func (m *maker) filters(table obj) (all list) {
	for i := range m.IntN(4) {
		k := kinds[m.IntN(len(kinds))]
		name := k.name + string(rune('0'+i))
		m.waits = m.waits || k.name == "buffer" || k.name == "health_check"
		f := obj{"name": name, "typed_config": k.chain(m)}
		if m.one(6) {
			f["disabled"] = true
		}
		all = append(all, f)
		m.perRoute(table, name, k)
		for _, h := range table["virtual_hosts"].(list) {
			m.perRoute(h.(obj), name, k)
			for _, r := range h.(obj)["routes"].(list) {
				m.perRoute(r.(obj), name, k)
			}
		}
	}
	return all
}

// perRoute may configure a filter at a level of the route table.
func (m *maker) perRoute(level obj, name string, k kind) {
	if k.perRoute == nil || !m.one(5) {
		return
	}
	configs, _ := level["typed_per_filter_config"].(obj)
	if configs == nil {
		configs = obj{}
		level["typed_per_filter_config"] = configs
	}
	const wrapper = "type.googleapis.com/envoy.config.route.v3.FilterConfig"
	switch m.IntN(5) {
	case 0:
		configs[name] = obj{"@type": wrapper, "disabled": true}
	case 1:
		configs[name] = obj{"@type": wrapper, "config": k.perRoute(m)}
	case 2:
		configs[name] = obj{"@type": wrapper, "config": obj{}}
	default:
		configs[name] = k.perRoute(m)
	}
}

func (m *maker) rbac(name string) obj {
	c := typed("rbac.v3."+name, obj{})
	if m.one(5) {
		return c
	}
	policies := obj{}
	for _, id := range []string{"first one", "second"}[:1+m.IntN(2)] {
		policies[id] = obj{"permissions": list{m.permission(2)}, "principals": list{m.principal(2)}}
	}
	c["rules"] = obj{"action": pick(m, "ALLOW", "DENY"), "policies": policies}
	return c
}

func (m *maker) permission(depth int) obj {
	if depth > 0 && m.one(3) {
		return pick(m,
			obj{"not_rule": m.permission(depth - 1)},
			obj{"and_rules": obj{"rules": list{m.permission(depth - 1), m.permission(depth - 1)}}},
			obj{"or_rules": obj{"rules": list{m.permission(depth - 1), m.permission(depth - 1)}}})
	}
	switch m.IntN(4) {
	case 0:
		return obj{"any": true}
	case 1:
		return obj{"url_path": obj{"path": obj{"prefix": "/" + m.word()}}}
	case 2:
		return obj{"requested_server_name": obj{"suffix": "shop.test"}}
	}
	return obj{"header": m.header()}
}

func (m *maker) principal(depth int) obj {
	if depth > 0 && m.one(3) {
		return pick(m, obj{"not_id": m.principal(depth - 1)}, obj{"or_ids": obj{"ids": list{m.principal(depth - 1), m.principal(depth - 1)}}})
	}
	network := obj{"address_prefix": pick(m, "127.0.0.0", "10.0.0.0", "5.0.0.0"), "prefix_len": 8}
	switch m.IntN(6) {
	case 0:
		return obj{"direct_remote_ip": network}
	case 1:
		return obj{"remote_ip": network}
	case 2:
		return obj{"header": m.header()}
	case 3:
		return obj{"authenticated": pick(m, obj{}, obj{"principal_name": obj{"exact": pick(m, certified, "other.test")}})}
	}
	return obj{"any": true}
}

func (m *maker) cors() obj {
	c := obj{"allow_origin_string_match": list{pick(m, obj{"exact": "https://app.test"}, obj{"prefix": "https://"}, obj{"safe_regex": obj{"regex": "\\*|https://.*\\.test"}})}}
	if m.one(3) {
		c["allow_methods"] = pick(m, "GET,POST", "*")
	}
	if m.one(3) {
		c["allow_headers"] = pick(m, "x-a", "*")
	}
	if m.one(3) {
		c["allow_credentials"] = m.one(2)
	}
	if m.one(3) {
		c["expose_headers"] = "x-b"
	}
	if m.one(3) {
		c["max_age"] = "10"
	}
	if m.one(3) {
		c["forward_not_matching_preflights"] = m.one(2)
	}
	if m.one(4) {
		c["filter_enabled"] = percent(pick(m, 0, 100))
	}
	return typed("cors.v3.CorsPolicy", c)
}

func percent(n int) obj { return obj{"default_value": obj{"numerator": n, "denominator": "HUNDRED"}} }

func (m *maker) csrf() obj {
	c := obj{"filter_enabled": percent(pick(m, 0, 100, 100))}
	if m.one(2) {
		c["additional_origins"] = list{obj{"suffix": "app.test"}}
	}
	return typed("csrf.v3.CsrfPolicy", c)
}

func (m *maker) headerMutations(level string) obj {
	one := func() obj {
		if m.one(3) {
			return obj{"remove": pick(m, "x-tier", "x-user", "x-level")}
		}
		return obj{"append": m.additions(level)[0]}
	}
	return obj{"request_mutations": list{one(), one()}, "response_mutations": list{obj{"append": m.additions(level)[0]}}}
}

func (m *maker) fault() obj {
	c := obj{}
	if m.one(2) {
		c["abort"] = obj{"percentage": obj{"numerator": pick(m, 0, 100)}, "http_status": pick(m, 418, 503)}
	} else {
		c["abort"] = obj{"percentage": obj{"numerator": 100}, "header_abort": obj{}}
	}
	if m.one(3) {
		c["delay"] = obj{"percentage": obj{"numerator": pick(m, 0, 100)}, "fixed_delay": "0.001s"}
	}
	if m.one(3) {
		c["headers"] = list{m.header()}
	}
	if m.one(4) {
		c["upstream_cluster"] = "shop"
	}
	return typed("fault.v3.HTTPFault", c)
}

func users(name, password string) obj {
	sum := sha1.Sum([]byte(password)) //nolint:gosec // the same
	return obj{"inline_string": name + ":{SHA}" + base64.StdEncoding.EncodeToString(sum[:])}
}

func (m *maker) localLimit() obj {
	return typed("local_ratelimit.v3.LocalRateLimit", obj{
		"stat_prefix": "limit", "token_bucket": obj{"max_tokens": 1_000_000, "fill_interval": "3600s"}, "filter_enabled": percent(100), "filter_enforced": percent(100),
	})
}

func (m *maker) jwt() obj {
	key := `{"keys":[{"kty":"oct","alg":"HS256","kid":"k","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"}]}`
	need := obj{"provider_name": "p"}
	return typed("jwt_authn.v3.JwtAuthentication", obj{
		"providers": obj{"p": obj{"issuer": "walk", "local_jwks": obj{"inline_string": key}}}, "bypass_cors_preflight": m.one(2),
		"rules": list{
			obj{"match": obj{"prefix": "/" + m.word()}},
			obj{"match": obj{"prefix": "/"}, "requires": pick(m, need, obj{"allow_missing": obj{}}, obj{"requires_any": obj{"requirements": list{need, obj{"allow_missing": obj{}}}}},
				obj{"requires_all": obj{"requirements": list{need, need}}})},
		},
		"requirement_map": obj{"need": need},
	})
}
