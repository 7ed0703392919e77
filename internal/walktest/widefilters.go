package walktest

import "encoding/base64"

// wideKinds are filters that only the walks are compared with.
var wideKinds = []kind{
	{"tokens", (*maker).tokens, nil},
	{"limits", (*maker).limits, nil},
	{"keys", func(m *maker) obj {
		return typed("api_key_auth.v3.ApiKeyAuth", obj{
			"credentials": list{obj{"key": "abc", "client": "ann"}, obj{"key": "def", "client": "bob"}}, "key_sources": list{obj{"header": "x-key"}, obj{"query": "q"}},
			"forwarding": obj{"header": "x-client", "hide_credentials": m.one(2)},
		})
	}, func(m *maker) obj {
		return typed("api_key_auth.v3.ApiKeyAuthPerRoute", obj{"allowed_clients": list{pick(m, "ann", "bob")}})
	}},
	{"pack", func(m *maker) obj {
		return typed("compressor.v3.Compressor", obj{"response_direction_config": obj{"remove_accept_encoding_header": m.one(2)}, "compressor_library": obj{
			"name": "gzip", "typed_config": obj{"@type": "type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip"},
		}})
	}, func(*maker) obj { return typed("compressor.v3.CompressorPerRoute", obj{"disabled": true}) }},
	{"unpack", func(*maker) obj {
		return typed("decompressor.v3.Decompressor", obj{"decompressor_library": obj{
			"name": "gzip", "typed_config": obj{"@type": "type.googleapis.com/envoy.extensions.compression.gzip.decompressor.v3.Gzip"},
		}})
	}, nil},
	{"metadata", func(m *maker) obj {
		return typed("header_to_metadata.v3.Config", obj{"request_rules": list{obj{"header": "x-version", "remove": m.one(2), "on_header_present": obj{"metadata_namespace": "x", "key": "version"}}}})
	}, nil},
	{"queries", func(*maker) obj {
		return typed("header_mutation.v3.HeaderMutation", obj{"mutations": obj{"query_parameter_mutations": list{
			obj{"remove": "debug"},
			obj{"append": obj{"record": obj{"key": "q", "value": "%REQ(x-tier)%"}, "action": "OVERWRITE_IF_EXISTS"}},
			obj{"append": obj{"record": obj{"key": "added", "value": "1"}}},
		}}})
	}, nil},
	{"matched", (*maker).matched, nil},
	{"ruled", (*maker).ruled, nil},
	{"again", func(*maker) obj {
		return typed("set_filter_state.v3.Config", obj{"clear_route_cache": true})
	}, nil},
}

func key() string { return base64.RawURLEncoding.EncodeToString(secret) }

// tokens is jwt_authn with more of what providers have.
func (m *maker) tokens() obj {
	p := obj{
		"issuer": "walk", "forward": m.one(2), "payload_in_metadata": "claims", "clear_route_cache": m.one(2),
		"local_jwks": obj{"inline_string": `{"keys":[{"kty":"oct","kid":"k","k":"` + key() + `"}]}`},
	}
	if m.one(2) {
		p["audiences"] = list{"shop"}
	}
	if m.one(3) {
		p["subjects"] = obj{"prefix": "a"}
	}
	if m.one(3) {
		p["forward_payload_header"] = "x-payload"
	}
	if m.one(2) {
		p["claim_to_headers"] = list{obj{"header_name": pick(m, "x-tier", "x-claim"), "claim_name": "sub"}, obj{"header_name": "x-claimed", "claim_name": "level"}}
	}
	if m.one(3) {
		p["from_headers"] = list{obj{"name": "x-token"}, obj{"name": "authorization", "value_prefix": "Bearer "}}
	}
	if m.one(3) {
		p["require_expiration"] = true
	}
	anyone := obj{"require_expiration": m.one(2), "local_jwks": p["local_jwks"]}
	need, other := obj{"provider_name": "p"}, obj{"provider_name": "anyone"}
	return typed("jwt_authn.v3.JwtAuthentication", obj{
		"providers": obj{"p": p, "anyone": anyone}, "strip_failure_response": m.one(3),
		"rules": list{
			obj{"match": obj{"prefix": "/" + m.word()}, "requires": pick(m, need, other)},
			obj{"match": obj{"prefix": "/"}, "requires": pick(m, need, obj{"allow_missing": obj{}}, obj{"allow_missing_or_failed": obj{}},
				obj{"requires_any": obj{"requirements": list{need, obj{"allow_missing": obj{}}}}}, obj{"requires_any": obj{"requirements": list{need, other}}},
				obj{"requires_all": obj{"requirements": list{need, other}}}, obj{"provider_and_audiences": obj{"provider_name": "p", "audiences": list{"x"}}})},
		},
	})
}

// limits is local_ratelimit with descriptors whose buckets do not get empty.
func (m *maker) limits() obj {
	bucket := obj{"max_tokens": 1000000, "fill_interval": "3600s"}
	made := m.localLimit()
	made["descriptors"] = list{
		obj{"entries": list{obj{"key": "tier", "value": "gold"}}, "token_bucket": bucket}, obj{"entries": list{obj{"key": "generic_key", "value": "all"}}, "token_bucket": bucket},
	}
	if m.one(2) {
		made["rate_limits"] = list{m.rateLimit()}
	}
	return made
}

const executes = "type.googleapis.com/envoy.extensions.filters.http.composite.v3.ExecuteFilterAction"

// matched is a filter that a matcher skips, or one that it chooses.
func (m *maker) matched() obj {
	c := obj{"@type": "type.googleapis.com/envoy.extensions.common.matching.v3.ExtensionWithMatcher"}
	if m.one(2) {
		c["extension_config"] = obj{"name": "inner", "typed_config": m.fault()}
		c["xds_matcher"] = m.tree(m.anyInput(), obj{"@type": "type.googleapis.com/envoy.extensions.filters.common.matcher.action.v3.SkipFilter"})
		return c
	}
	c["extension_config"] = obj{"name": "inner", "typed_config": typed("composite.v3.Composite", obj{})}
	mutation := typed("header_mutation.v3.HeaderMutation", obj{"mutations": m.headerMutations("composite")})
	c["xds_matcher"] = m.tree(m.anyInput(), obj{"@type": executes, "typed_config": obj{"name": "a", "typed_config": mutation}}, obj{"@type": executes, "typed_config": obj{"name": "b", "typed_config": m.fault()}})
	return c
}

// ruled is RBAC with a matcher, or by the claims of a token.
func (m *maker) ruled() obj {
	if m.one(2) {
		const action = "type.googleapis.com/envoy.config.rbac.v3.Action"
		return typed("rbac.v3.RBAC", obj{"matcher": m.tree(m.anyInput(), obj{"@type": action, "name": "may"}, obj{"@type": action, "name": "may not", "action": "DENY"})})
	}
	claim := obj{"filter": "envoy.filters.http.jwt_authn", "path": list{obj{"key": "claims"}, obj{"key": "sub"}}, "value": obj{"string_match": obj{"exact": "ann"}}}
	return typed("rbac.v3.RBAC", obj{"rules": obj{"action": pick(m, "ALLOW", "DENY"), "policies": obj{"claims": obj{
		"permissions": list{obj{"any": true}}, "principals": list{obj{"metadata": claim}, obj{"header": m.header()}},
	}}}})
}

// widenFilters adds some of the filters before the router.
func (m *maker) widenFilters(manager obj) {
	filters := manager["http_filters"].(list)
	table := manager["route_config"].(obj)
	for range m.IntN(3) {
		k := wideKinds[m.IntN(len(wideKinds))]
		at := m.IntN(len(filters))
		f := obj{"name": k.name + string(rune('0'+len(filters))), "typed_config": k.chain(m)}
		filters = append(filters[:at:at], append(list{f}, filters[at:]...)...)
		for _, h := range table["virtual_hosts"].(list) {
			m.perRoute(h.(obj), f["name"].(string), k)
		}
	}
	manager["http_filters"] = filters
}
