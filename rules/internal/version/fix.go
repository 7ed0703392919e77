package version

import (
	"fmt"
	"slices"
	"strings"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// wrap is an equivalent replacement: another field, whose value holds the old one.
type wrap struct {
	field string
	inner lint.Fields // the fields of the new value, down to the old one
}

// wraps lists the replacements that move the value of a field into another one.
var wraps = map[protoreflect.FullName]wrap{
	"envoy.config.core.v3.ConfigSource.path":                       {"path_config_source", into("path")},
	"envoy.config.core.v3.SubstitutionFormatString.text_format":    {"text_format_source", into("inline_string")},
	"envoy.config.route.v3.HeaderMatcher.contains_match":           {"string_match", into("contains")},
	"envoy.config.route.v3.HeaderMatcher.exact_match":              {"string_match", into("exact")},
	"envoy.config.route.v3.HeaderMatcher.prefix_match":             {"string_match", into("prefix")},
	"envoy.config.route.v3.HeaderMatcher.suffix_match":             {"string_match", into("suffix")},
	"envoy.extensions.access_loggers.file.v3.FileAccessLog.format": {"log_format", into("text_format_source", "inline_string")},
	"envoy.extensions.filters.http.lua.v3.Lua.inline_code":         {"default_source_code", into("inline_string")},
}

func into(fields ...string) (all lint.Fields) {
	for _, f := range fields {
		all = append(all, lint.Entry{Name: f})
	}
	return all
}

// idle lists messages that have no effect while they are empty.
var idle = map[protoreflect.FullName]bool{"envoy.type.matcher.v3.RegexMatcher.google_re2": true}

// fix returns the replacement of a field if that is equivalent.
func (u use) fix(at *graph.Place) []lint.Fix {
	where := at.At().Field(string(u.field.Name()))
	name := u.field.FullName()
	switch w, wraps := wraps[name]; {
	case idle[name] && proto.Size(at.Message.Get(u.field).Message().Interface()) == 0:
		return lint.Remove(where).Safe(fmt.Sprintf("remove %s", u.field.Name()))
	case wraps && !has(at.Message, w.field):
		return lint.Wrap(where, w.field, w.inner).Safe("write " + w.field)
	case name == "envoy.config.bootstrap.v3.Admin.access_log_path":
		return adminLog(where, at.Message.Get(u.field).String())
	case name == "envoy.config.route.v3.VirtualHost.cors" || name == "envoy.config.route.v3.RouteAction.cors":
		return moveCORS(at, where)
	case name.Parent() == "envoy.config.cluster.v3.Cluster":
		c, _ := at.Message.Interface().(*clusterv3.Cluster)
		if inner := protocolOption[u.field.Name()]; inner != nil {
			return moveProtocolOption(where, at.Message, inner)
		}
		if slices.Contains(dnsFields, u.field.Name()) {
			return toDNSCluster(at, c)
		}
	}
	return nil
}

func has(m protoreflect.Message, field string) bool {
	return m.Has(m.Descriptor().Fields().ByName(protoreflect.Name(field)))
}

func typed(message string, rest ...lint.Entry) lint.Fields {
	return append(lint.Fields{{Name: "@type", Value: "type.googleapis.com/" + message}}, rest...)
}

// adminLog writes the access log that Envoy makes of the path (source/server/configuration_impl.cc, InitialImpl::initAdminAccessLog).
func adminLog(where lint.At, path string) []lint.Fix {
	logger := lint.Fields{
		{Name: "name", Value: "envoy.access_loggers.file"},
		{Name: "typed_config", Value: typed("envoy.extensions.access_loggers.file.v3.FileAccessLog", lint.Entry{Name: "path", Value: path})},
	}
	return lint.Exchange(where, "access_log", lint.List{logger}).Safe("write access_log")
}

const httpOptions = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

// explicitHTTP1 is what a cluster speaks that has no HTTP/2 options. HttpProtocolOptions must say so.
var explicitHTTP1 = lint.Entry{Name: "explicit_http_config", Value: lint.Fields{{Name: "http_protocol_options", Value: lint.Fields{}}}}

// protocolOption maps the HTTP options of a cluster to their place in HttpProtocolOptions.
var protocolOption = map[protoreflect.Name]lint.Fields{
	"http2_protocol_options":         into("explicit_http_config", "http2_protocol_options"),
	"http_protocol_options":          into("explicit_http_config", "http_protocol_options"),
	"common_http_protocol_options":   append(lint.Fields{explicitHTTP1}, into("common_http_protocol_options")...),
	"upstream_http_protocol_options": append(lint.Fields{explicitHTTP1}, into("upstream_http_protocol_options")...),
	"max_requests_per_connection":    append(lint.Fields{explicitHTTP1}, into("common_http_protocol_options", "max_requests_per_connection")...),
}

// moveProtocolOption moves the only HTTP option of a cluster into HttpProtocolOptions, as Envoy does when it reads the old one
// (source/common/upstream/upstream_impl.cc, createOptions).
func moveProtocolOption(where lint.At, cluster protoreflect.Message, inner lint.Fields) []lint.Fix {
	set := 0
	for name := range protocolOption {
		if has(cluster, string(name)) {
			set++
		}
	}
	if set != 1 || has(cluster, "typed_extension_protocol_options") || has(cluster, "protocol_selection") {
		return nil
	}
	inner = slices.Concat(into(httpOptions), typed(httpOptions), inner)
	return lint.Wrap(where, "typed_extension_protocol_options", inner).Safe("write typed_extension_protocol_options")
}

// dnsFields are the deprecated fields of a cluster that DnsCluster has under the same names.
var dnsFields = []protoreflect.Name{"dns_refresh_rate", "dns_failure_refresh_rate", "respect_dns_ttl", "dns_jitter"}

// toDNSCluster writes the DnsCluster that Envoy makes of the old fields (source/extensions/clusters/common/dns_cluster_backcompat.cc). Clusters
// of other types ignore the fields.
func toDNSCluster(at *graph.Place, c *clusterv3.Cluster) []lint.Fix {
	_, simple := c.GetClusterDiscoveryType().(*clusterv3.Cluster_Type)
	if c == nil || c.ClusterDiscoveryType != nil && !simple {
		return nil
	}
	if c.GetType() != clusterv3.Cluster_STRICT_DNS && c.GetType() != clusterv3.Cluster_LOGICAL_DNS {
		return removeAll(at, dnsFields...).Safe("remove what only a DNS cluster reads")
	}
	for _, other := range []string{"dns_resolution_config", "dns_resolvers", "typed_dns_resolver_config", "use_tcp_for_dns_lookups"} {
		if has(at.Message, other) {
			return nil
		}
	}
	moved := append(slices.Clone(dnsFields), "dns_lookup_family")
	var inner []lint.Entry
	for _, name := range moved {
		if value := valueOf(at.Message, name); value != nil {
			inner = append(inner, lint.Entry{Name: string(name), Value: value})
		}
	}
	if c.GetType() == clusterv3.Cluster_LOGICAL_DNS {
		inner = append(inner, lint.Entry{Name: "all_addresses_in_single_endpoint", Value: true})
	}
	custom := lint.Fields{
		{Name: "name", Value: "envoy.cluster.dns"},
		{Name: "typed_config", Value: typed("envoy.extensions.clusters.dns.v3.DnsCluster", inner...)},
	}
	edits := lint.Together(lint.Exchange(at.At().Field("type"), "cluster_type", custom), removeAll(at, moved...))
	return edits.Safe("write cluster_type, with a DnsCluster")
}

// removeAll removes those of the fields that are set.
func removeAll(at *graph.Place, fields ...protoreflect.Name) lint.Edits {
	var all []lint.Edits
	for _, name := range fields {
		if has(at.Message, string(name)) {
			all = append(all, lint.Remove(at.At().Field(string(name))))
		}
	}
	return lint.Together(all...)
}

// valueOf returns the value of a field as an edit writes it, nil if it is not set.
func valueOf(m protoreflect.Message, name protoreflect.Name) any {
	field := m.Descriptor().Fields().ByName(name)
	if !m.Has(field) {
		return nil
	}
	value := m.Get(field)
	if !field.IsList() {
		return written(field, value)
	}
	var all lint.List
	for i := range value.List().Len() {
		all = append(all, written(field, value.List().Get(i)))
	}
	return all
}

func written(field protoreflect.FieldDescriptor, value protoreflect.Value) any {
	switch md := field.Message(); {
	case field.Enum() != nil:
		if known := field.Enum().Values().ByNumber(value.Enum()); known != nil {
			return string(known.Name())
		}
		return int(value.Enum())
	case md == nil:
		return value.Interface()
	case md.FullName() == "google.protobuf.Duration":
		text, _ := protojson.Marshal(value.Message().Interface())
		return strings.Trim(string(text), `"`)
	case md.FullName().Parent() == "google.protobuf": // a wrapper
		return value.Message().Get(md.Fields().ByName("value")).Interface()
	default:
		inner := lint.Fields{}
		for i := range md.Fields().Len() {
			if v := valueOf(value.Message(), md.Fields().Get(i).Name()); v != nil {
				inner = append(inner, lint.Entry{Name: string(md.Fields().Get(i).Name()), Value: v})
			}
		}
		return inner
	}
}
