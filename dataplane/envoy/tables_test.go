package envoy

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/xdslint/xdslint/dataplane"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
)

// TestTablesNameWhatExists finds misspelled names.
func TestTablesNameWhatExists(t *testing.T) {
	for _, fields := range []map[protoreflect.FullName]bool{keys(points), keys(LookedUpByName), unvalidatedFields} {
		for name := range fields {
			if d, err := protoregistry.GlobalFiles.FindDescriptorByName(name); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if _, ok := d.(protoreflect.FieldDescriptor); !ok {
				t.Errorf("%s is not a field", name)
			}
		}
	}
	for _, types := range []map[protoreflect.FullName]bool{wrappings, unvalidatedTypes, chainOnly, keys(perRoute)} {
		for name := range types {
			if _, err := protoregistry.GlobalTypes.FindMessageByName(name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	x := dataplane.Default().Extensions()
	contrib, _ := dataplane.Default().Contrib()
	for field, categories := range points {
		for category := range strings.FieldsSeq(categories) {
			if !noBuildHas[category] && !slices.Contains(contrib.Extensions().Categories(), category) {
				t.Errorf("%s: %s has no category %s", field, contrib, category)
			}
		}
	}
	for route, chain := range perRoute {
		for _, name := range []protoreflect.FullName{route, chain} {
			if !Known(x, name, "envoy.filters.http") {
				t.Errorf("%s does not configure an HTTP filter of %s", name, dataplane.Default())
			}
		}
	}
}

// noBuildHas lists categories without extensions.
var noBuildHas = map[string]bool{
	"envoy.http.custom_response.modify_request_headers_action": true,
	"envoy.retry_options_predicates":                           true,
	"envoy.tracers.opentelemetry.exporters":                    true,
}

func keys[V any](m map[protoreflect.FullName]V) map[protoreflect.FullName]bool {
	set := map[protoreflect.FullName]bool{}
	for name := range m {
		set[name] = true
	}
	return set
}
