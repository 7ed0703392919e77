package cluster

import (
	"fmt"
	"maps"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "options-unsupported",
	Severity: lint.Error,
	Summary:  "a cluster has options for a filter that does not accept any, or options of the wrong type",
	Links:    []string{"createProtocolOptionsConfig (source/common/upstream/upstream_impl.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		options := c.GetTypedExtensionProtocolOptions()
		for _, key := range slices.Sorted(maps.Keys(options)) {
			at := at.Entry("typed_extension_protocol_options", key)
			want, reads := optionTypes[key]
			if !reads {
				if isFilter(p.Target.Extensions(), key) {
					p.Reject(at.Key(), lint.Rejection{
						Message:  fmt.Sprintf("the filter %q does not accept options of a cluster", key),
						Help:     "remove it, or configure the filter in the listener",
						Upstream: fmt.Sprintf("filter %s does not support protocol options", key),
					})
				}
				continue
			}
			if options[key].GetTypeUrl() == "" && want == httpOptions {
				p.Reject(at, lint.Rejection{
					Message: "the HTTP options are empty, but must select an HTTP version for the cluster",
					Help: `write "@type": type.googleapis.com/` + string(httpOptions) +
						`, and explicit_http_config, auto_config or use_downstream_protocol_config`,
					Upstream: `Proto constraint validation failed (field: "upstream_protocol_options", reason: is required)`,
				})
				continue
			}
			m := at.Content(options[key])
			got := dynamic.TypeName(m)
			if got == "" || got == want || got == "google.protobuf.Struct" || decode.IsTypedStruct(got) || isEmpty(m) && want != httpOptions {
				continue
			}
			p.Reject(at, lint.Rejection{
				Message:  fmt.Sprintf("the options %q must have the type %s, not %s", key, want, got),
				Help:     "write options of that type, or the key for these options",
				Upstream: fmt.Sprintf("Unable to unpack as %s", want),
			})
		}
	}),
})

const httpOptions protoreflect.FullName = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions"

// optionTypes maps keys to the type of options that Envoy reads. Tested on Envoy 1.40, extension by extension.
var optionTypes = map[string]protoreflect.FullName{
	envoy.HTTPOptionsKey:                                                                  httpOptions,
	"envoy.upstreams.http.http_protocol_options":                                          httpOptions,
	"envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions":                                "envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions",
	"envoy.upstreams.tcp.tcp_protocol_options":                                            "envoy.extensions.upstreams.tcp.v3.TcpProtocolOptions",
	"envoy.extensions.upstreams.http.reverse_tunnel.v3.ReverseTunnelUpstreamCodecOptions": "envoy.extensions.upstreams.http.reverse_tunnel.v3.ReverseTunnelUpstreamCodecOptions",
	"envoy.filters.network.redis_proxy":                                                   "envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions",
	"envoy.redis_proxy":                                                                   "envoy.extensions.filters.network.redis_proxy.v3.RedisProtocolOptions",
	"envoy.filters.network.thrift_proxy":                                                  "envoy.extensions.filters.network.thrift_proxy.v3.ThriftProtocolOptions",
	"envoy.filters.network.sip_proxy":                                                     "envoy.extensions.filters.network.sip_proxy.v3alpha.SipProtocolOptions", // of contrib builds
}

// isFilter reports whether a name is a filter of Envoy's official build. It is not known which options other filters accept.
func isFilter(x *dataplane.Extensions, name string) bool {
	return slices.ContainsFunc(x.ByName(name), func(e dataplane.Extension) bool {
		return e.Category == "envoy.filters.network" || e.Category == "envoy.filters.http"
	})
}

func isEmpty(m proto.Message) bool { return proto.Size(m) == 0 }
