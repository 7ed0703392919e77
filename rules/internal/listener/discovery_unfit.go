package listener

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "discovery-unfit",
	Severity: lint.Error,
	Summary:  "a filter from ECDS has no source, lacks a required default, or has a default of another type",
	Links: []string{
		"FilterChainHelper::processDynamicFilterConfig (source/common/http/filter_chain_helper.h)",
		"FilterConfigProviderManagerImpl::getDefaultConfig (source/common/filter/config_discovery_impl.h)",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, s *corev3.ExtensionConfigSource) {
		filter := at.Place.Parent
		if filter == nil || at.Resource().State != "" || !builtAround(at) || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		kind := filter.Message.Descriptor().FullName()
		if noWarming, ok := withoutWarming[kind]; ok && s.GetApplyDefaultConfigWithoutWarming() && s.GetDefaultConfig() == nil {
			p.Reject(at.Field("apply_default_config_without_warming").Key(), lint.Rejection{
				Message:  "apply_default_config_without_warming needs a default_config",
				Help:     "add default_config, or remove apply_default_config_without_warming",
				Upstream: noWarming,
			})
		}
		if discovers[kind] && s.GetConfigSource() != nil && s.GetConfigSource().GetConfigSourceSpecifier() == nil {
			p.Reject(at.Field("config_source"), lint.Rejection{
				Message:  "the config_source does not say where the filter comes from",
				Help:     "write ads: {}, or another config source",
				Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
			})
		}
		if discovers[kind] && s.GetDefaultConfig() != nil && len(s.GetTypeUrls()) > 0 {
			checkDefault(p, at, s)
		}
	}),
})

// discovers lists the messages whose config_discovery FilterConfigProviderManagerImpl handles.
var discovers = map[protoreflect.FullName]bool{
	"envoy.config.cluster.v3.Filter":                                         true,
	"envoy.config.listener.v3.Filter":                                        true,
	"envoy.config.listener.v3.ListenerFilter":                                true,
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter": true,
}

// withoutWarming is Envoy's text about a filter that does not warm and has no default. It does not check network filters.
var withoutWarming = map[protoreflect.FullName]string{
	"envoy.config.listener.v3.ListenerFilter":                                "listener filter config applied without warming but has no default config",
	"envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter": "filter config applied without warming but has no default config",
}

// builtAround reports whether Envoy builds the listener around a filter, and whether its listener filters may come from ECDS.
// It is true outside of listeners.
func builtAround(at lint.At) bool {
	l, where := graph.Around[*listenerv3.Listener](at.Place)
	if where == nil {
		return true
	}
	_, own := at.Place.Parent.Message.Interface().(*listenerv3.ListenerFilter)
	return built(l) && !(own && overUDP(l))
}

func checkDefault(p *lint.Pass, at lint.At, s *corev3.ExtensionConfigSource) {
	name, _ := factoryType(at, s.GetDefaultConfig())
	var expected []string
	for _, url := range s.GetTypeUrls() {
		expected = append(expected, string(decode.TypeName(url)))
	}
	point, ok := envoy.PointOf(at.Place)
	if name == "" || slices.Contains(expected, string(name)) || ok && !point.Takes(p.Target.Extensions(), name) {
		return // schema/bad-type-url reports what does not configure a filter
	}
	p.Reject(at.Field("default_config"), lint.Rejection{
		Message:  fmt.Sprintf("default_config has the type %s, which is not in type_urls", name.Name()),
		Help:     "add its type to type_urls, or write a default of a listed type",
		Upstream: fmt.Sprintf("filter config has type URL %s but expect %s", name, strings.Join(expected, ", ")),
		Related:  []lint.Related{lint.RelatedTo(at.Field("type_urls"), "the accepted types")},
	})
}
