package cluster

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "upstream-filters",
	Severity: lint.Error,
	Summary:  "the HTTP filters of a cluster or router do not end with the codec, or a network filter has two configurations",
	Links: []string{
		"FilterChainUtility::checkUpstreamHttpFiltersList (source/common/http/filter_chain_helper.cc)",
		"ClusterInfoImpl::ClusterInfoImpl (source/common/upstream/upstream_impl.cc)",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		switch m := m.Interface().(type) {
		case *clusterv3.Cluster:
			if at.Place.Parent == nil {
				checkClusterFilters(p, at, m)
			}
		case *routerv3.Router:
			if built, _ := envoy.Validated(p.Target.Extensions(), at.Place); built {
				checkCodec(p, at, "upstream_http_filters", m.GetUpstreamHttpFilters())
			}
		}
	}, "envoy.config.cluster.v3.Cluster", "envoy.extensions.filters.http.router.v3.Router"),
})

func checkClusterFilters(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
	for i, f := range c.GetFilters() {
		if f.GetTypedConfig() != nil && f.GetConfigDiscovery() != nil {
			p.Reject(at.Item("filters", i).Field("config_discovery").Key(), lint.Rejection{
				Message:  "a filter has either typed_config or config_discovery, not both",
				Help:     "keep one of them",
				Upstream: "Only one of typed_config or config_discovery can be used",
			})
		}
	}
	if h, ok := envoy.UpstreamHTTPOf(at, c); ok && h.Typed != nil {
		checkCodec(p, h.At, "http_filters", h.Typed.GetHttpFilters())
	}
}

const upstreamCodec = "envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec"

// checkCodec checks that the codec is the last filter of a list, and only that.
func checkCodec(p *lint.Pass, list lint.At, field string, filters []*hcmv3.HttpFilter) {
	last := len(filters) - 1
	for i, f := range filters {
		at := list.Item(field, i)
		content, _ := envoy.Content(at.Field("typed_config"), f.GetTypedConfig())
		codec := dynamic.TypeName(content) == upstreamCodec
		switch {
		case f.GetTypedConfig() == nil && f.GetConfigDiscovery() == nil: // another rule reports it
		case i == last && !codec:
			p.Reject(at.Field("name"), lint.Rejection{
				Message:  fmt.Sprintf("%q is the last filter, but the last filter must be the codec", f.GetName()),
				Help:     "end the list with envoy.filters.http.upstream_codec",
				Upstream: fmt.Sprintf("The codec filter is the only valid terminal upstream HTTP filter, use '%s'", upstreamCodec),
			})
		case i == last && f.GetDisabled():
			p.Reject(at.Field("disabled"), lint.Rejection{
				Message:  "the codec, the last filter, is disabled",
				Help:     "remove disabled",
				Upstream: fmt.Sprintf("Error: the last (terminal) filter (%s) in the chain cannot be disabled by default.", f.GetName()),
			})
		case i < last && codec:
			p.Reject(at.Field("name"), lint.Rejection{
				Message: fmt.Sprintf("%q is terminal, but more filters come after it", f.GetName()),
				Help:    "keep the codec at the end",
				Upstream: fmt.Sprintf("Error: terminal filter named %s of type envoy.filters.http.upstream_codec must be the last filter in a upstream http filter chain.",
					f.GetName()),
			})
		}
	}
}
