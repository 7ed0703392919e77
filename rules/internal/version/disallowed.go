package version

import (
	"fmt"
	"strings"

	"github.com/envoyproxy/go-control-plane/envoy/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "disallowed",
	Severity: lint.Error,
	Summary:  "a deprecated field or enum value that Envoy rejects by default",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/operations/runtime#using-runtime-overrides-for-deprecated-features",
	},
	Run: lint.EachMatching(suspect, func(p *lint.Pass, at lint.At, m protoreflect.Message) { disallowed(p, at.Place, usesOf(m)) }),
})

func disallowed(p *lint.Pass, at *graph.Place, uses []use) {
	if len(uses) == 0 || !fatal(p, at) {
		return
	}
	flags := runtimeOf(p.Snapshot)
	for _, u := range uses {
		if !u.rejected(flags) {
			continue
		}
		d := lint.Diagnostic{
			Message:  u.message() + ", and Envoy rejects it by default",
			Help:     u.replacement(),
			Notes:    []string{fmt.Sprintf("the runtime key %s allows it for now", u.feature())},
			Rejected: true,
			Upstream: u.upstream(),
		}
		where := at.At().Field(string(u.field.Name()))
		if u.value == nil {
			where = where.Key()
			d.Fixes = u.fix(at)
		}
		p.Report(where, d)
	}
}

// fatal reports whether Envoy validates a message after it has loaded its runtime.
func fatal(p *lint.Pass, at *graph.Place) bool {
	if validated, _ := envoy.Validated(p.Target.Extensions(), at); !validated {
		return false
	}
	return at.Resource.Delivery != graph.FromBootstrap || envoy.EnclosingAny(at) != nil
}

// use is one deprecated field, or one deprecated enum value in a field.
type use struct {
	field protoreflect.FieldDescriptor
	value protoreflect.EnumValueDescriptor // nil for the field itself
	unset bool                             // the field is not set, and the value is its default
}

// usesOf lists the deprecated fields and values of a message, not of those inside it.
func usesOf(m protoreflect.Message) (found []use) {
	all, in := suspects(m.Descriptor()), fields.In(m)
	for i := range all {
		f := &all[i]
		if len(f.values) > 0 {
			if v := f.values[in.Enum(&f.Field)]; v != nil {
				found = append(found, use{f.FieldDescriptor, v, !in.IsSet(&f.Field)})
			}
		}
		if f.deprecated && in.IsSet(&f.Field) {
			found = append(found, use{field: f.FieldDescriptor})
		}
	}
	return found
}

func (u use) rejected(flags map[string]bool) bool {
	if allowed, known := flags[u.feature()]; known {
		return !allowed
	}
	if flags[enableAll] {
		return false
	}
	return u.byDefault() || flags[failOnAny]
}

const (
	enableAll = "envoy.features.enable_all_deprecated_features"
	failOnAny = "envoy.features.fail_on_any_deprecated_feature"
)

// byDefault reports whether Envoy rejects it without a runtime key.
func (u use) byDefault() bool {
	options, extension := proto.Message(nil), annotations.E_DisallowedByDefault
	if options = u.field.Options(); u.value != nil {
		options, extension = u.value.Options(), annotations.E_DisallowedByDefaultEnum
	}
	rejected, _ := proto.GetExtension(options, extension).(bool)
	return rejected
}

// feature returns the runtime key that allows it.
func (u use) feature() string {
	if u.value != nil {
		return "envoy.deprecated_features:" + string(u.value.FullName())
	}
	return "envoy.deprecated_features:" + string(u.field.FullName())
}

func (u use) message() string {
	switch {
	case u.value == nil:
		return fmt.Sprintf("%s is deprecated", u.field.Name())
	case u.unset:
		return fmt.Sprintf("%s is not set, and its default %s is deprecated", u.field.Name(), u.value.Name())
	}
	return fmt.Sprintf("the value %s of %s is deprecated", u.value.Name(), u.field.Name())
}

func (u use) upstream() string {
	if u.value == nil {
		return fmt.Sprintf("Using deprecated option '%s'", u.field.FullName())
	}
	which := ""
	if u.unset {
		which = "the default now-"
	}
	return fmt.Sprintf("Using %sdeprecated value %s for enum '%s'", which, u.value.Name(), u.field.FullName())
}

// runtimeOf reads the keys about deprecated features from the static layers of the bootstrap. The last layer wins.
func runtimeOf(s graph.View) map[string]bool {
	flags := map[string]bool{}
	b, _ := s.Bootstrap()
	for _, layer := range b.GetLayeredRuntime().GetLayers() {
		flatten("", layer.GetStaticLayer(), flags)
	}
	return flags
}

func flatten(prefix string, s *structpb.Struct, into map[string]bool) {
	for key, v := range s.GetFields() {
		key = prefix + key
		if inner := v.GetStructValue(); inner != nil {
			flatten(key+".", inner, into)
		} else if strings.HasPrefix(key, "envoy.") {
			into[key] = v.GetBoolValue() || strings.EqualFold(v.GetStringValue(), "true")
		}
	}
}
