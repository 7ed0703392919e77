package cluster

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "transport-socket",
	Severity: lint.Error,
	Summary:  "a transport socket of a cluster is incomplete, or has settings that do not work",
	Links: []string{
		"TransportSocketMatcherImpl (source/common/upstream/transport_socket_match_impl.cc)",
		"InternalUpstream::Config (source/extensions/transport_sockets/internal_upstream/config.cc)",
	},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		for i, match := range c.GetTransportSocketMatches() {
			if match.GetTransportSocket() == nil {
				p.Reject(at.Item("transport_socket_matches", i), lint.Rejection{
					Message:  fmt.Sprintf("the match %q does not have a transport_socket", match.GetName()),
					Help:     "add its transport_socket; for cleartext, the raw buffer",
					Upstream: "Didn't find a registered implementation for '' with type URL: ''",
				})
			}
		}
		if c.GetTransportSocketMatcher() != nil && !p.Target.Before("1.37") {
			checkSocketNames(p, at, c.GetTransportSocketMatches())
		}
		envoy.EachTransportSocket(at, c, func(at lint.At, m proto.Message) {
			switch dynamic.TypeName(m) {
			case "envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport":
				if !p.Target.Before("1.40") {
					checkTLVs(p, at.Field("config"), dynamic.Sub(m, "config"))
				}
			case "envoy.extensions.transport_sockets.internal_upstream.v3.InternalUpstreamTransport":
				for i, metadata := range dynamic.Items(m, "passthrough_metadata") {
					checkKind(p, at.Item("passthrough_metadata", i), metadata.Message().Interface())
				}
			case "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport":
				if proxy, ok := dynamic.Sub(m, "default_proxy_address").(*corev3.Address); ok {
					check.IP(p, at.Field("default_proxy_address", "socket_address"), proxy.GetSocketAddress(), "write the IP address of the proxy")
				}
			}
		})
	}),
})

// checkSocketNames checks the names by which the actions of a transport_socket_matcher choose.
func checkSocketNames(p *lint.Pass, at lint.At, matches []*clusterv3.Cluster_TransportSocketMatch) {
	first := map[string]int{}
	for i, match := range matches {
		before, twice := first[match.GetName()]
		if !twice {
			first[match.GetName()] = i
			continue
		}
		p.Reject(at.Item("transport_socket_matches", i).Field("name"), lint.Rejection{
			Message:  fmt.Sprintf("two transport sockets have the name %q, by which the matcher chooses", match.GetName()),
			Help:     "give each transport socket a name of its own",
			Upstream: fmt.Sprintf("Duplicate transport socket name '%s' found in transport_socket_matches", match.GetName()),
			Related:  []lint.Related{lint.RelatedTo(at.Item("transport_socket_matches", before).Field("name"), "the first one")},
		})
	}
}

func checkTLVs(p *lint.Pass, at lint.At, config proto.Message) {
	for i, tlv := range dynamic.Items(config, "added_tlvs") {
		at := at.Item("added_tlvs", i)
		_, value := dynamic.Value(tlv.Message().Interface(), "value")
		_, format := dynamic.Value(tlv.Message().Interface(), "format_string")
		switch {
		case value && format:
			p.Reject(at.Field("format_string").Key(), lint.Rejection{
				Message:  "a TLV has either value or format_string, not both",
				Help:     "keep one of them",
				Upstream: "Invalid TLV configuration: only one of 'value' or 'format_string' may be set.",
			})
		case !value && !format:
			p.Reject(at, lint.Rejection{
				Message:  "a TLV does not have a value",
				Help:     "write value, in base64, or format_string",
				Upstream: "Invalid TLV configuration: one of 'value' or 'format_string' must be set.",
			})
		}
	}
}

func checkKind(p *lint.Pass, at lint.At, metadata proto.Message) {
	kind := dynamic.Sub(metadata, "kind")
	for _, name := range []protoreflect.Name{"request", "route"} {
		if _, ok := dynamic.Value(kind, name); ok {
			p.Reject(at.Field("kind", string(name)).Key(), lint.Rejection{
				Message:  fmt.Sprintf("metadata of a %s cannot be passed to an internal listener", name),
				Help:     "write kind: {host: {}} or kind: {cluster: {}}",
				Upstream: "metadata type is not supported: " + string(name),
			})
		}
	}
}
