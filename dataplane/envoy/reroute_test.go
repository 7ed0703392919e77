package envoy_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestKeepsRoute: after a filter that writes metadata, a filter lets Envoy select the route again or does not. Only then the first route, which matches
// the metadata, takes the request.
func TestKeepsRoute(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	always := "{default_value: {numerator: 100}}"
	writes := `set_metadata.v3.Config, metadata: [{metadata_namespace: example, value: {tenant: blue}}]`
	routes := strings.Replace(inline("direct_response: {status: 202}"), "routes:\n",
		"routes:\n    - {match: {prefix: /, dynamic_metadata: [{filter: example, path: [{key: tenant}], value: {present_match: true}}]}, direct_response: {status: 201}}\n", 1)
	for kind, config := range map[string]string{
		"buffer":             "buffer.v3.Buffer, max_request_bytes: 1000",
		"compressor":         `compressor.v3.Compressor, compressor_library: {name: gzip, typed_config: {"@type": type.googleapis.com/envoy.extensions.compression.gzip.compressor.v3.Gzip}}`,
		"cors":               "cors.v3.Cors",
		"csrf":               "csrf.v3.CsrfPolicy, filter_enabled: " + always,
		"fault":              "fault.v3.HTTPFault, delay: {fixed_delay: 0.001s, percentage: {numerator: 100}}",
		"header_to_metadata": "header_to_metadata.v3.Config, request_rules: [{header: authorization, on_header_present: {metadata_namespace: example, key: token}, remove: true}]",
		"local_ratelimit":    "local_ratelimit.v3.LocalRateLimit, stat_prefix: s, token_bucket: {max_tokens: 9, fill_interval: 60s}, filter_enabled: " + always + ", filter_enforced: " + always,
		"lua":                `lua.v3.Lua, default_source_code: {inline_string: "function envoy_on_request(request) request:clearRouteCache() end"}`,
		"rbac":               "rbac.v3.RBAC, rules: {policies: {all: {permissions: [{any: true}], principals: [{any: true}]}}}",
		"set_metadata":       writes,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			e, err := envoytest.Serve(ctx, boot(http1(routes, writes, config)), ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			want := "201"
			if (envoy.HTTPFilter{Kind: kind}).KeepsRoute() {
				want = "202"
			}
			if got, _, _ := strings.Cut(ask(t, ctx, e), " "); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
