package posture_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/posture"
	"github.com/xdslint/xdslint/internal/walk"
)

const api = `"@type": type.googleapis.com/envoy.extensions.filters.`

// made makes the report of a listener with a manager's fields and the routes of its only virtual host, as YAML in one line.
func made(t *testing.T, fields, routes, filters string) *posture.Report {
	t.Helper()
	text := `static_resources:
  listeners:
  - name: in
    address: {socket_address: {address: 127.0.0.1, port_value: 8080}}
    filter_chains:
    - filters:
      - name: http
        typed_config: {` + api + `network.http_connection_manager.v3.HttpConnectionManager, stat_prefix: x, ` + fields + `
          route_config: {virtual_hosts: [{name: h, domains: [shop.test], routes: [` + routes + `]}]},
          http_filters: [` + filters + `, {name: router, typed_config: {` + api + `http.router.v3.Router}}]}
  clusters: [{name: shop, type: STATIC, connect_timeout: 1s, load_assignment: {cluster_name: shop, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]}}]`
	in, err := load.Texts(t.Context(), map[string][]byte{"envoy.yaml": []byte(text)}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v, err := in.One("envoy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	r, err := posture.Make(v, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

const (
	all   = `{match: {prefix: /}, route: {cluster: shop}}`
	jwt   = `{name: jwt, typed_config: {` + api + `http.jwt_authn.v3.JwtAuthentication, providers: {p: {issuer: i, local_jwks: {inline_string: x}}}, `
	rbac  = `{name: rbac, typed_config: {` + api + `http.rbac.v3.RBAC, rules: {action: DENY, policies: {p: {principals: [{any: true}], permissions: [`
	authz = `{name: authz, typed_config: {` + api + `http.ext_authz.v3.ExtAuthz, grpc_service: {envoy_grpc: {cluster_name: shop}}}}`
	limit = `{name: limit, typed_config: {` + api + `http.ratelimit.v3.RateLimit, domain: x, rate_limit_service: {transport_api_version: V3, grpc_service: {envoy_grpc: {cluster_name: shop}}}}}`
	off   = `typed_per_filter_config: {authz: {"@type": type.googleapis.com/envoy.config.route.v3.FilterConfig, disabled: true}}`
)

// TestHoles: mistakes that are known from issues are holes, and what closes one is not.
func TestHoles(t *testing.T) {
	for name, c := range map[string]struct {
		fields, routes, filters string
		trick, path             string // of a hole; empty: there is none by this trick
	}{
		"a header with the path and its query": {"", all, rbac + `{header: {name: ":path", string_match: {exact: /admin}}}]}}}}}`, "a query", "/admin?x=1"},
		"an exact path":                        {"", all, rbac + `{url_path: {path: {exact: /admin}}}]}}}}}`, "a trailing slash", "/admin/"},
		"a query is not the path":              {"", all, rbac + `{url_path: {path: {exact: /admin}}}]}}}}}`, "a query", ""},
		"the case of letters":                  {"", all, jwt + `rules: [{match: {prefix: /admin}, requires: {provider_name: p}}]}}`, "letters in another case", "/ADMIN"},
		"the case does not matter": {
			"", all, jwt + `rules: [{match: {prefix: /admin, case_sensitive: false}, requires: {provider_name: p}}]}}`, "letters in another case", "",
		},
		"slashes":            {"", all, jwt + `rules: [{match: {prefix: /admin}, requires: {provider_name: p}}]}}`, "a slash twice", "//admin"},
		"slashes are merged": {"merge_slashes: true,", all, jwt + `rules: [{match: {prefix: /admin}, requires: {provider_name: p}}]}}`, "a slash twice", ""},
		"an escaped slash":   {"", all, jwt + `rules: [{match: {prefix: /a/b}, requires: {provider_name: p}}]}}`, "an escaped slash", "/%2Fa/b"},
		"an escaped slash is unescaped": {
			"path_with_escaped_slashes_action: UNESCAPE_AND_FORWARD, merge_slashes: true,", all, jwt + `rules: [{match: {prefix: /a/b}, requires: {provider_name: p}}]}}`, "an escaped slash", "",
		},
		"dots from an exempt prefix": {"", `{match: {prefix: /public/}, route: {cluster: shop}, ` + off + `}, ` + all, authz, "dot segments", "/public/../"},
		"dots are resolved":          {"normalize_path: true,", `{match: {prefix: /public/}, route: {cluster: shop}, ` + off + `}, ` + all, authz, "dot segments", ""},
		"a parameter":                {"", all, rbac + `{url_path: {path: {exact: /admin}}}]}}}}}`, "a path parameter", "/admin;x"},
		"a longer name":              {"", `{match: {prefix: /public}, route: {cluster: shop}, ` + off + `}, ` + all, authz, "a longer name", "/publicx"},
		"a name that ends":           {"", `{match: {path_separated_prefix: /public}, route: {cluster: shop}, ` + off + `}, ` + all, authz, "a longer name", ""},
		"a header chooses the route": {"", `{match: {prefix: /, headers: [{name: x-beta, string_match: {exact: "1"}}]}, route: {cluster: shop}, ` + off + `}, ` + all, authz, "a header", "/"},
		"another route is rewritten": {"", `{match: {prefix: /in/}, route: {cluster: shop, prefix_rewrite: /}, ` + off + `}, ` + all, authz, "another route", "/in/"},
		"an upgrade has no guard":    {`upgrade_configs: [{upgrade_type: websocket, filters: [{name: router, typed_config: {` + api + `http.router.v3.Router}}]}],`, all, authz, "an upgrade", "/"},
		"an upgrade has all filters": {`upgrade_configs: [{upgrade_type: websocket}],`, all, authz, "an upgrade", ""},
		"tokens that are not checked": {
			"", all, `{name: login, typed_config: {` + api + `http.oauth2.v3.OAuth2, config: {pass_through_matcher: [{name: authorization, string_match: {prefix: "Bearer "}}]}}}`, "a header", "/",
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := ""
			for _, h := range made(t, c.fields, c.routes, c.filters).Holes {
				if h.Trick == c.trick && found == "" {
					found = *h.Way.Sent.Path
				}
			}
			if found != c.path {
				t.Errorf("a hole by %s is %q, not %q", c.trick, found, c.path)
			}
		})
	}
}

// TestStates: why a guard does not hold.
func TestStates(t *testing.T) {
	for name, c := range map[string]struct {
		routes, filters string
		state           walk.State
		why             string
	}{
		"disabled in the chain": {all, strings.Replace(authz, "name: authz,", "name: authz, disabled: true,", 1), walk.Disabled, "the route does not enable it"},
		"disabled by the route": {`{name: r, match: {prefix: /}, route: {cluster: shop}, ` + off + `}`, authz, walk.Disabled, "disabled by route r"},
		"fails open":            {all, strings.Replace(authz, "ExtAuthz,", "ExtAuthz, failure_mode_allow: true,", 1), walk.FailsOpen, "failure_mode_allow"},
		"a forged token":        {all, jwt + `rules: [{match: {prefix: /}, requires: {allow_missing_or_failed: {}}}]}}`, walk.Open, "allow_missing_or_failed"},
		"the first rule":        {all, jwt + `rules: [{match: {prefix: /}}, {match: {prefix: /}, requires: {provider_name: p}}]}}`, walk.Exempt, "no rule of it demands a token"},
		"a token":               {all, jwt + `rules: [{match: {prefix: /}, requires: {provider_name: p}}]}}`, walk.Runs, ""},
		"no rules": {
			`{match: {prefix: /}, route: {cluster: shop}, typed_per_filter_config: {rbac: {` + api + `http.rbac.v3.RBACPerRoute}}}`, rbac + `{any: true}]}}}}}`, walk.Exempt, "does not have rules",
		},
		"a policy for some clients, and one for all": {
			all, strings.Replace(rbac, "DENY, policies: {", "ALLOW, policies: {a: {principals: [{remote_ip: {address_prefix: 10.0.0.0, prefix_len: 8}}], permissions: [{any: true}]}, ", 1) + `{any: true}]}}}}}`,
			walk.Exempt, "allows any client",
		},
		"a limit for requests with a header": {
			`{match: {prefix: /}, route: {cluster: shop, rate_limits: [{actions: [{request_headers: {header_name: x-user, descriptor_key: user}}]}]}}`, limit, walk.Exempt, "descriptor",
		},
		"a limit for all requests":  {`{match: {prefix: /}, route: {cluster: shop, rate_limits: [{actions: [{generic_key: {descriptor_value: all}}]}]}}`, limit, walk.FailsOpen, "failure_mode_deny"},
		"a limit without a cluster": {`{match: {prefix: /}, route: {cluster: gone, rate_limits: [{actions: [{generic_key: {descriptor_value: all}}]}]}}`, limit, walk.Exempt, "does not exist"},
		"a limit without an upstream": {
			`{match: {prefix: /}, direct_response: {status: 200}}`, limit, walk.Exempt, "answers the request itself",
		},
		"never limits": {all, `{name: limit, typed_config: {` + api + `http.local_ratelimit.v3.LocalRateLimit, stat_prefix: x, token_bucket: {max_tokens: 1, fill_interval: 1s}}}`, walk.Exempt, "filter_enabled is 0 %"},
	} {
		t.Run(name, func(t *testing.T) {
			cells := made(t, "", c.routes, c.filters).Cells
			if !slices.ContainsFunc(cells, func(cell *posture.Cell) bool {
				return slices.ContainsFunc(cell.Way.Guards, func(g walk.Guard) bool { return g.State == c.state && strings.Contains(g.Why, c.why) })
			}) {
				t.Errorf("no guard is %s, since %q: %+v", c.state, c.why, cells[0].Way.Guards)
			}
		})
	}
}
