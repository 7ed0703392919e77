package bootstrap

import (
	"fmt"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "xds-extension",
	Severity: lint.Error,
	Summary:  "a bootstrap names an extension of xDS itself, which Envoy's official builds do not have",
	Links:    []string{"XdsManagerImpl::initialize (source/common/config/xds_manager_impl.cc)"},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		unknownExtension(p, at.Field("xds_delegate_extension"), b.GetXdsDelegateExtension())
		unknownExtension(p, at.Field("xds_config_tracker_extension"), b.GetXdsConfigTrackerExtension())
	}),
})

func unknownExtension(p *lint.Pass, at lint.At, e *corev3.TypedExtensionConfig) {
	config := e.GetTypedConfig()
	if config == nil || config.GetTypeUrl() != "" && at.Content(config) == nil { // schema/bad-type-url reports a type that Envoy does not have
		return
	}
	p.Reject(at.Key(), lint.Rejection{
		Message:  "Envoy's official builds do not have an " + at.Path().Name(),
		Help:     "remove it, or use a build that has it",
		Upstream: fmt.Sprintf("Didn't find a registered implementation for '%s' with type URL: '%s'", e.GetName(), configured(at, config)),
	})
}
