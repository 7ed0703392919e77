package envoy

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/graph"
)

const httpFilters = "envoy.extensions.filters.http."

// HTTPFilter is an HTTP filter in a chain.
type HTTPFilter struct {
	Message *hcmv3.HttpFilter
	At      graph.At      // the filter
	Kind    string        // the part of its type that names the filter: jwt_authn; empty if it is not one of Envoy's, or discovered
	Config  proto.Message // nil if it is not known
	Own     graph.At      // its configuration
}

// HTTPFiltersOf returns the filters of a chain. name is the field that holds them.
func HTTPFiltersOf(at graph.At, name string, filters []*hcmv3.HttpFilter) (all []HTTPFilter) {
	for i, m := range filters {
		all = append(all, HTTPFilterOf(at.Item(name, i), m))
	}
	return all
}

// HTTPFilterOf returns the filter at a place.
func HTTPFilterOf(at graph.At, m *hcmv3.HttpFilter) HTTPFilter {
	f := HTTPFilter{Message: m, At: at}
	f.Config, f.Own = Content(at.Field("typed_config"), m.GetTypedConfig())
	if f.Config != nil {
		f.Kind = filterKind(f.Config.ProtoReflect().Descriptor().FullName())
	}
	return f
}

func filterKind(name protoreflect.FullName) string {
	rest, ok := strings.CutPrefix(string(name), httpFilters)
	if !ok {
		return ""
	}
	kind, _, _ := strings.Cut(rest, ".")
	return kind
}

// authorizers are the filters that can reject a request for who sends it.
var authorizers = map[string]bool{"api_key_auth": true, "basic_auth": true, "ext_authz": true, "jwt_authn": true, "oauth2": true, "rbac": true}

// Authorizes reports whether the filter's purpose is to reject requests for who sends them.
func (f HTTPFilter) Authorizes() bool { return authorizers[f.Kind] }

// passive are filters that neither reject a request for who sends it nor change its headers.
var passive = map[string]bool{
	"bandwidth_limit": true, "body_size_limit": true, "buffer": true, "cdn_loop": true, "compressor": true, "cors": true, "csrf": true, "decompressor": true,
	"fault": true, "grpc_http1_bridge": true, "grpc_stats": true, "grpc_web": true, "health_check": true, "local_ratelimit": true, "on_demand": true,
	"ratelimit": true, "router": true, "tap": true, "upstream_codec": true,
}

// Passive reports whether it is certain that the filter neither rejects requests for who sends them nor changes their headers.
func (f HTTPFilter) Passive() bool { return passive[f.Kind] }
