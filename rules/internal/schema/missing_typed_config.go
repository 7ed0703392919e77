package schema

import (
	"fmt"
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "missing-typed-config",
	Family:   dataplane.Envoy,
	Severity: lint.Error,
	Summary:  "an extension has a name, but no typed_config",
	Links:    []string{"https://github.com/envoyproxy/envoy/issues/21759"},
	Run: lint.EachMatching(func(_ dataplane.Target, md protoreflect.MessageDescriptor) bool {
		return envoy.IsWrapping(md.FullName()) || md.FullName() == "envoy.config.route.v3.FilterConfig"
	}, missingTypedConfig),
})

// untyped lists the wrappings in which a missing configuration is valid: it means the default, or the name is used instead.
var untyped = map[protoreflect.FullName]bool{
	"envoy.config.cluster.v3.Cluster.CustomClusterType":                              true,
	"envoy.config.core.v3.ExtensionConfigSource":                                     true,
	"envoy.config.core.v3.TypedExtensionConfig":                                      true, // breaks a constraint
	"envoy.config.route.v3.FilterConfig":                                             true,
	"envoy.extensions.filters.network.http_connection_manager.v3.RequestIDExtension": true,
	"google.protobuf.Any":                                                            true,
	"xds.core.v3.TypedExtensionConfig":                                               true,
}

func missingTypedConfig(p *lint.Pass, at lint.At, m protoreflect.Message) {
	if filter, ok := m.Interface().(*routev3.FilterConfig); ok && filter.GetConfig() == nil && !filter.GetDisabled() {
		emptyFilterConfig(p, at)
		return
	}
	md := m.Descriptor()
	if !envoy.IsWrapping(md.FullName()) {
		return
	}
	fd := md.Fields().ByName("typed_config")
	if fd == nil {
		return
	}
	if m.Has(fd) {
		if !isEmptyAny(m.Get(fd).Message().Interface()) || envoy.UndecodedFieldsOf(at.Place)[fd.Name()] {
			return
		}
	} else if discovered := md.Fields().ByName("config_discovery"); untyped[md.FullName()] || discovered != nil && m.Has(discovered) {
		return
	}
	if filter, ok := m.Interface().(*hcmv3.HttpFilter); ok && filter.GetIsOptional() {
		return // Envoy skips it
	}
	if check.UnderUnknownKey(at.Resource(), at.Path(), fd.Name()) {
		return
	}
	pt, ok := envoy.PointOf(at.Place)
	if !ok || pt.Wrapping != at.Place || emptyMeans(pt) || envoy.Ignored(p.Target.Extensions(), pt, at.Place) || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
		return
	}
	reportUntyped(p, at, pt, m, fd)
}

func reportUntyped(p *lint.Pass, at lint.At, pt envoy.Point, m protoreflect.Message, fd protoreflect.FieldDescriptor) {
	where, name := at.Field("typed_config").Key(), ""
	d := lint.Diagnostic{
		Message:  "the typed_config has no type",
		Notes:    []string{"Envoy looks an extension up by the type of its configuration, the name is only a label", envoy.OnReject(at.Resource())},
		Rejected: true, Upstream: "Didn't find a registered implementation for type: ''",
	}
	if nameField := m.Descriptor().Fields().ByName("name"); nameField != nil {
		where, name = at.Field("name"), m.Get(nameField).String()
		d.Message = fmt.Sprintf("%q has no typed_config", name)
		if m.Has(fd) {
			d.Message = fmt.Sprintf("the typed_config of %q has no type", name)
		}
		d.Upstream = fmt.Sprintf("Didn't find a registered implementation for '%s' with type URL: ''", name)
	}
	if url := typeByName(p, name, pt.Categories); url != "" {
		d.Help = fmt.Sprintf(`write typed_config: {"@type": %s}`, url)
		empty := lint.Fields{{Name: "@type", Value: url}}
		switch {
		case !emptyValid(p, decode.TypeName(url)): // then it takes more than the type
		case m.Has(fd):
			d.Fixes = lint.Insert(at.Field("typed_config"), "@type", url).Likely("write the type")
		case at.Resource().Locate(at.Field("typed_config").Path()).Exact: // it is null
			d.Fixes = lint.Exchange(at.Field("typed_config"), "typed_config", empty).Likely("write the type")
		default:
			d.Fixes = lint.Insert(at, "typed_config", empty).Likely("add an empty typed_config")
		}
	}
	late(&d, pt)
	p.Report(where, d)
}

// late changes a finding whose mistake only a real start rejects.
func late(d *lint.Diagnostic, pt envoy.Point) {
	if pt.Late() {
		d.Rejected, d.Notes = false, append(d.Notes[:len(d.Notes)-1:len(d.Notes)-1], envoy.OnlyAtStart)
	}
}

// emptyMeans reports whether an empty typed_config is valid: the name is used instead, or a default.
func emptyMeans(pt envoy.Point) bool {
	_, byName := envoy.LookedUpByName[pt.Field]
	return byName || pt.Field == "envoy.config.cluster.v3.Cluster.typed_dns_resolver_config"
}

// isEmptyAny reports whether a message is an Any without a type.
func isEmptyAny(m proto.Message) bool {
	config, ok := m.(*anypb.Any)
	return ok && config.GetTypeUrl() == ""
}

// emptyFilterConfig reports a FilterConfig that neither configures nor disables its filter (PerFilterConfigs).
func emptyFilterConfig(p *lint.Pass, at lint.At) {
	if any := at.Place.Parent; any == nil || !envoy.OuterRead(p.Target.Extensions(), any) {
		return
	}
	if pt, ok := envoy.PointOf(at.Place.Parent); !ok || !pt.IsPerRoute() {
		return
	}
	p.Report(at, lint.Diagnostic{
		Message: "the FilterConfig has no config and does not disable its filter",
		Notes:   []string{envoy.OnReject(at.Resource())}, Rejected: true,
		Help:     "write config with the filter's configuration per route, config: {} to enable the filter, or disabled: true",
		Upstream: "Empty route/virtual host per filter configuration",
	})
}

// typeByName returns the type URL of the extension with a name in one of the categories, or "".
func typeByName(p *lint.Pass, name string, categories []string) string {
	for _, e := range p.Target.Extensions().ByName(name) {
		if slices.Contains(categories, e.Category) && len(e.TypeURLs) > 0 {
			return typeURL(e)
		}
	}
	return ""
}

// onlyType returns the type URL of the extensions with a name, or "" if they have different types.
func onlyType(p *lint.Pass, name string) (url string) {
	for _, e := range p.Target.Extensions().ByName(name) {
		if len(e.TypeURLs) == 0 || url != "" && url != typeURL(e) {
			return ""
		}
		url = typeURL(e)
	}
	return url
}

func typeURL(e dataplane.Extension) string { return "type.googleapis.com/" + shortest(e.TypeURLs) }

// shortest returns the shortest URL: that of the filter's configuration, not of the one per route.
func shortest(urls []string) string {
	best := urls[0]
	for _, url := range urls[1:] {
		if len(url) < len(best) {
			best = url
		}
	}
	return best
}
