package schema

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/constraint"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
)

const moduleField = "dynamic_module_config"

var _ = Rules.Add(&lint.Rule{
	Name:     "dynamic-module-source",
	Family:   dataplane.Envoy,
	Severity: lint.Error,
	Summary:  "a dynamic module does not have a name or a source, or comes from where Envoy does not take it",
	Links:    []string{"newDynamicModuleByName (source/extensions/dynamic_modules/dynamic_modules.cc)"},
	Run: lint.EachMatching(func(_ dataplane.Target, md protoreflect.MessageDescriptor) bool {
		return md.Fields().ByName(moduleField) != nil
	}, func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		if envoy.OuterRead(p.Target.Extensions(), at.Place) && !breaksConstraint(p, at, m) {
			checkModule(p, at, m)
		}
	}),
})

// breaksConstraint reports whether a constraint already rejects that the module is not configured, or until Envoy 1.37 that it has no name.
func breaksConstraint(p *lint.Pass, at lint.At, m protoreflect.Message) (breaks bool) {
	if hasField(m, moduleField) {
		return p.Target.Before("1.38")
	}
	if _, constraints := envoy.Validated(p.Target.Extensions(), at.Place); constraints {
		envoy.ConstraintsOf(p.Target, m.Descriptor()).Check(m, func(v constraint.Violation) {
			breaks = breaks || v.Field != nil && v.Field.Name() == moduleField
		})
	}
	return breaks
}

func checkModule(p *lint.Pass, at lint.At, m protoreflect.Message) {
	if hasField(m, moduleField) {
		at = at.Field(moduleField)
	}
	config, name := messageOf(m, moduleField).Interface(), m.Descriptor().FullName()
	_, named := dynamic.Value(config, "name")
	source, byName := dynamic.Sub(config, "module"), onlyByName(p.Target, name)
	switch {
	case !named && (byName || source == nil):
		r := lint.Rejection{
			Message:  "the dynamic module does not have a name",
			Help:     "add name: Envoy loads lib<name>.so from $ENVOY_DYNAMIC_MODULES_SEARCH_PATH",
			Upstream: "Either 'name' or 'module' must be specified in dynamic_module_config",
		}
		if byName {
			r.Upstream = "Failed to load dynamic module"
		}
		p.Reject(at, r)
	case byName || source == nil:
	case isText(dynamic.Sub(source, "local")):
		p.Reject(at.Field("module", "local"), lint.Rejection{
			Message:  "Envoy takes a dynamic module only from a file or a server",
			Help:     "write filename",
			Upstream: "Only local file path or remote HTTP source is supported for module sources",
		})
	case name.Name() == "DynamicModuleFilterPerRoute" && dynamic.Sub(source, "remote") != nil && !isSet(config, "nack_on_cache_miss"):
		p.Reject(at.Field("module", "remote"), lint.Rejection{
			Message:  "Envoy cannot wait for the dynamic module of a route",
			Help:     "add nack_on_cache_miss: true, or write the module to a file",
			Upstream: "Remote module sources require a factory context",
		})
	}
}

// onlyByName reports whether Envoy loads a module by its name, and does not read its source.
func onlyByName(t dataplane.Target, name protoreflect.FullName) bool {
	switch name.Name() {
	case "DynamicModuleFormatter", "DynamicModuleHealthCheck":
		return true
	case "DynamicModuleFilter":
		return t.Before("1.38")
	}
	return t.Before("1.39")
}

// isText reports whether a data source is in the configuration or in the environment. One without anything breaks a constraint.
func isText(source proto.Message) bool {
	return isSet(source, "inline_string") || isSet(source, "inline_bytes") || isSet(source, "environment_variable")
}

func isSet(m proto.Message, field protoreflect.Name) bool {
	_, ok := dynamic.Value(m, field)
	return ok
}
