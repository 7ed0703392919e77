package walk

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	matchingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/matching/v3"
	skipv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/matcher/action/v3"
	compositev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/composite/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// delegated follows DelegatingStreamFilter::decodeHeaders: a matcher decides whether a filter runs, or which one a composite filter runs. runs is
// Perhaps if that is not known.
func (j *journey) delegated(v visit) (inner visit, runs match.Overlap) {
	with, _ := v.Config.(*matchingv3.ExtensionWithMatcher)
	m, at := with.GetXdsMatcher(), v.Own.Field("xds_matcher")
	if own, ok := v.own.(*matchingv3.ExtensionWithMatcherPerRoute); ok {
		m, at = own.GetXdsMatcher(), v.ownAt.Field("xds_matcher")
	} else if with.GetMatcher() != nil && m == nil {
		return v, match.Perhaps
	}
	if m == nil {
		return v, match.No
	}
	inner = v.as(with.GetExtensionConfig(), v.Own.Field("extension_config"))
	_, isComposite := inner.Config.(*compositev3.Composite)
	found, fits := j.decide(m, at)
	if fits != match.Yes {
		if fits == match.No && !isComposite {
			fits = match.Yes
		}
		return inner, fits
	}
	switch action, at := found.content(); a := action.(type) {
	case *skipv3.SkipFilter:
		return inner, match.No
	case *compositev3.ExecuteFilterAction:
		share := match.Yes
		if a.GetSamplePercent() != nil {
			share = j.fraction(a.GetSamplePercent())
		}
		if a.GetTypedConfig() == nil {
			share = min(share, match.Perhaps)
		}
		return v.as(a.GetTypedConfig(), at.Field("typed_config")), share
	}
	return inner, match.Perhaps
}

// as is a visit of another filter under the same name.
func (v visit) as(c *corev3.TypedExtensionConfig, at graph.At) visit {
	held := &hcmv3.HttpFilter{Name: v.Message.GetName(), ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: c.GetTypedConfig()}}
	v.HTTPFilter = envoy.HTTPFilterOf(at, held)
	return v
}
