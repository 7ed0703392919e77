package walktest

import (
	"fmt"
	"math/rand/v2"
)

type (
	obj  = map[string]any
	list = []any
)

// clusters are those of every generated configuration. Requests that other names lead to find no cluster.
var clusters = []string{"shop", "cart", "search", "admin"}

// maker makes random parts of a configuration.
type maker struct {
	*rand.Rand
	routes int
	waits  bool // a filter waits for the end of requests, which CONNECT and upgrades do not have
}

func (m *maker) one(n int) bool { return m.IntN(n) == 0 }

func pick[T any](m *maker, all ...T) T { return all[m.IntN(len(all))] }

func (m *maker) word() string {
	return pick(m, "api", "cart", "items", "v1", "v2", "user", "a", "img", "health", "login")
}

func (m *maker) path() string {
	p := "/" + m.word()
	for m.one(2) {
		p += "/" + m.word()
	}
	return p + pick(m, "", "", "", "/", ".html")
}

func (m *maker) headerName() string {
	return pick(m, "x-tier", "x-user", "x-ver", "accept", ":method", "x-n")
}

func (m *maker) regex() string {
	return pick(m, "/"+m.word()+"/[0-9]+", "/("+m.word()+"|"+m.word()+")(/.*)?", ".*\\."+m.word(), "/"+m.word()+".*", "/[a-z]+/"+m.word(), "(?i)/"+m.word()+"/.+",
		"/"+m.word()+"/\\d{2,3}")
}

func (m *maker) text() obj {
	s := obj{pick(m, "exact", "prefix", "suffix", "contains"): pick(m, "gold", "silver", "b2", "al", "POST", "GET")}
	switch m.IntN(5) {
	case 0:
		return obj{"safe_regex": obj{"regex": pick(m, "[a-z]+", "g.*d", "(GET|PUT)", "v[0-9]+", "")}}
	case 1:
		s["ignore_case"] = true
	}
	return s
}

func (m *maker) header() obj {
	h := obj{"name": m.headerName()}
	switch m.IntN(6) {
	case 0:
		h["present_match"] = m.one(2)
	case 1:
		h["range_match"] = obj{"start": 5, "end": 10}
	case 2:
		h[pick(m, "exact_match", "prefix_match", "suffix_match", "contains_match")] = pick(m, "gold", "al", "GET")
	case 3:
	default:
		h["string_match"] = m.text()
	}
	if m.one(4) {
		h["invert_match"] = true
	}
	if m.one(4) {
		h["treat_missing_header_as_empty"] = true
	}
	return h
}

func (m *maker) match() obj {
	r := obj{}
	switch m.IntN(9) {
	case 0, 1:
		r["path"] = m.path()
	case 2:
		r["safe_regex"] = obj{"regex": m.regex()}
	case 3:
		r["path_separated_prefix"] = "/" + m.word()
	case 4:
		r["path_match_policy"] = obj{"name": "template", "typed_config": obj{
			"@type":         "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig",
			"path_template": m.template(),
		}}
	case 5:
		if m.one(2) {
			r["connect_matcher"] = obj{}
			break
		}
		fallthrough
	default:
		r["prefix"] = pick(m, m.path(), "/", "/"+m.word())
	}
	if m.one(6) && r["safe_regex"] == nil && r["path_match_policy"] == nil {
		r["case_sensitive"] = false
	}
	m.conditions(r)
	return r
}

func (m *maker) template() string {
	return "/" + m.word() + pick(m, "/{id}", "/{id}/"+m.word(), "/*/{x}", "/{rest=**}", "/{a=v1/*}", "/**")
}

func (m *maker) conditions(r obj) {
	if m.one(4) {
		r["headers"] = list{m.header()}
		if m.one(3) {
			r["headers"] = list{m.header(), m.header()}
		}
	}
	if m.one(7) {
		q := obj{"name": pick(m, "q", "debug")}
		switch m.IntN(3) {
		case 0:
			q["present_match"] = m.one(2)
		case 1:
			q["string_match"] = m.text()
		}
		r["query_parameters"] = list{q}
	}
	if m.one(12) {
		r["grpc"] = obj{}
	}
	if m.one(15) {
		r["tls_context"] = obj{"presented": m.one(2)}
	}
	if m.one(12) {
		r["runtime_fraction"] = obj{"default_value": obj{"numerator": pick(m, 0, 100, 100, 0), "denominator": "HUNDRED"}, "runtime_key": "walk.share"}
	}
}

func (m *maker) route() obj {
	m.routes++
	r := obj{"name": fmt.Sprintf("r%d", m.routes), "match": m.match()}
	switch m.IntN(8) {
	case 0:
		r["redirect"] = m.redirect()
	case 1:
		r["direct_response"] = m.direct()
	default:
		r["route"] = m.action(r["match"].(obj))
	}
	m.mutations(r, "route")
	return r
}

func (m *maker) direct() obj {
	d := obj{"status": pick(m, 200, 201, 204, 403, 404, 503, 301)}
	if m.one(2) {
		d["body"] = obj{"inline_string": "said by " + m.word()}
	}
	if d["status"] == 204 || d["status"] == 301 {
		delete(d, "body")
	}
	return d
}

func (m *maker) redirect() obj {
	r := obj{}
	if m.one(2) {
		r["host_redirect"] = pick(m, "new.test", "new.test:8443")
	}
	switch m.IntN(4) {
	case 0:
		r["path_redirect"] = pick(m, "/moved", "/moved?x=1", "moved")
	case 1:
		r["prefix_rewrite"] = pick(m, "/new", "/", "/new/")
	case 2:
		r["regex_rewrite"] = m.substitution()
	}
	switch m.IntN(4) {
	case 0:
		r["https_redirect"] = true
	case 1:
		r["scheme_redirect"] = pick(m, "https", "http", "ftp")
	}
	if m.one(4) {
		r["port_redirect"] = pick(m, 443, 8443, 80)
	}
	if m.one(3) {
		r["strip_query"] = true
	}
	r["response_code"] = pick(m, "MOVED_PERMANENTLY", "FOUND", "SEE_OTHER", "TEMPORARY_REDIRECT", "PERMANENT_REDIRECT")
	return r
}

func (m *maker) substitution() obj {
	return pick(m,
		obj{"pattern": obj{"regex": "^/([a-z0-9]+)/([a-z0-9]+)"}, "substitution": "/\\2/\\1"},
		obj{"pattern": obj{"regex": "/" + m.word()}, "substitution": "/sub"},
		obj{"pattern": obj{"regex": "[aeiou]"}, "substitution": "\\0\\\\"},
		obj{"pattern": obj{"regex": "/+"}, "substitution": "/"},
		obj{"pattern": obj{"regex": "x*"}, "substitution": "-"},
	)
}

func (m *maker) clusterName() string {
	if m.one(12) {
		return "missing"
	}
	return pick(m, clusters...)
}

func (m *maker) action(match obj) obj {
	a := obj{}
	switch m.IntN(8) {
	case 0:
		a["cluster_header"] = "x-cluster"
	case 1:
		a["weighted_clusters"] = m.weighted()
	default:
		a["cluster"] = m.clusterName()
	}
	m.rewrites(a, match)
	if m.one(5) {
		a["request_mirror_policies"] = list{obj{"cluster": pick(m, clusters...)}}
	}
	if m.one(4) {
		a["timeout"] = pick(m, "3s", "0s", "30s")
	}
	if m.one(5) {
		a["retry_policy"] = obj{"retry_on": "5xx,connect-failure", "num_retries": m.IntN(4)}
	}
	if m.one(6) {
		a["upgrade_configs"] = list{obj{"upgrade_type": pick(m, "websocket", "CONNECT"), "enabled": m.one(2)}}
	}
	if m.one(8) {
		a["cluster_not_found_response_code"] = pick(m, "NOT_FOUND", "INTERNAL_SERVER_ERROR")
	}
	return a
}

func (m *maker) rewrites(a, match obj) {
	switch m.IntN(4) {
	case 0:
		if match["path_match_policy"] == nil && match["connect_matcher"] == nil {
			a["prefix_rewrite"] = pick(m, "/", "/re", "/re/", "/re?from=envoy", "re")
		}
	case 1:
		a["regex_rewrite"] = m.substitution()
	case 2:
		if match["path_match_policy"] != nil {
			a["path_rewrite_policy"] = obj{"name": "rewrite", "typed_config": obj{
				"@type":                 "type.googleapis.com/envoy.extensions.path.rewrite.uri_template.v3.UriTemplateRewriteConfig",
				"path_template_rewrite": m.templateRewrite(match),
			}}
		}
	}
	switch m.IntN(7) {
	case 0:
		a["host_rewrite_literal"] = pick(m, "inner.test", "inner.test:81")
	case 1:
		a["host_rewrite_header"] = "x-host"
	case 2:
		a["host_rewrite_path_regex"] = obj{"pattern": obj{"regex": "^/([a-z]+).*"}, "substitution": "\\1.host"}
	case 3:
		a["auto_host_rewrite"] = true
	}
	if m.one(4) {
		a["append_x_forwarded_host"] = true
	}
}

func (m *maker) templateRewrite(match obj) string {
	template := match["path_match_policy"].(obj)["typed_config"].(obj)["path_template"].(string)
	variable := ""
	for i := range len(template) {
		if template[i] == '{' {
			for j := i + 1; j < len(template) && template[j] != '}' && template[j] != '='; j++ {
				variable += string(template[j])
			}
		}
	}
	if variable == "" {
		return "/fixed"
	}
	return pick(m, "/to/{"+variable+"}", "/{"+variable+"}", "/p-{"+variable+"}/end")
}

func (m *maker) weighted() obj {
	var all list
	sure := !m.one(3)
	for i, name := range clusters[:2+m.IntN(2)] {
		weight := 10 + 20*i
		if sure && i > 0 {
			weight = 0
		}
		c := obj{"name": name, "weight": weight}
		if m.one(3) {
			c["host_rewrite_literal"] = "w.test"
		}
		m.mutations(c, "weight")
		all = append(all, c)
	}
	w := obj{"clusters": all}
	if m.one(2) {
		w["header_name"] = "x-random"
	}
	return w
}

// mutations adds and removes headers at a level.
func (m *maker) mutations(at obj, level string) {
	if m.one(3) {
		at["request_headers_to_add"] = m.additions(level)
	}
	if m.one(5) {
		at["request_headers_to_remove"] = list{pick(m, "x-tier", "x-level", "x-user")}
	}
	if m.one(4) {
		at["response_headers_to_add"] = m.additions(level)
	}
	if m.one(8) {
		at["response_headers_to_remove"] = list{pick(m, "x-added", "x-level", "x-user")}
	}
}

func (m *maker) additions(level string) (all list) {
	for range 1 + m.IntN(2) {
		h := obj{"header": obj{"key": pick(m, "x-level", "x-user", "x-added"), "value": pick(m, level, level+"-2", "%REQ(x-tier)%", "%ROUTE_NAME%", "100%%", "%PROTOCOL%",
			"%DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT%", "%REQ(:path)%", "%REQ(x-none?x-tier):3%", "")}}
		if m.one(2) {
			h["append_action"] = pick(m, "ADD_IF_ABSENT", "OVERWRITE_IF_EXISTS", "OVERWRITE_IF_EXISTS_OR_ADD", "APPEND_IF_EXISTS_OR_ADD")
		}
		if m.one(5) {
			h["keep_empty_value"] = true
		}
		all = append(all, h)
	}
	return all
}
