package decode

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/decode/types"
)

// successors maps the types of xDS v2 to those of v3, which name their predecessors.
var successors = sync.OnceValue(func() map[protoreflect.FullName]protoreflect.FullName {
	found := map[protoreflect.FullName]protoreflect.FullName{}
	types.Each(func(name, v2 protoreflect.FullName) {
		if v2 != "" {
			// ext_authz names its predecessor as a type of v3, which never existed.
			found[protoreflect.FullName(strings.Replace(string(v2), ".v3.", ".v2.", 1))] = name
		}
	})
	return found
})

// Successor returns the v3 name of a type of xDS v2, or nothing if it is not known.
func Successor(name string) string { return string(successors()[protoreflect.FullName(name)]) }

// IsOld reports whether a type is one of xDS v2, which becomes a problem of the kind OldType.
func IsOld(name protoreflect.FullName) bool {
	_, old := v3Name(name)
	return old
}

// v3Name reports whether a message type is of xDS v2, and returns its v3 name if that is known. Vendors number their
// packages too: a type that has no successor and is not in a package of Envoy's core is treated as one of theirs.
func v3Name(name protoreflect.FullName) (successor protoreflect.FullName, old bool) {
	if !strings.HasPrefix(string(name), "envoy.") || strings.Contains(string(name), ".v3.") {
		return "", false
	}
	successor = successors()[name]
	return successor, successor != "" || strings.HasPrefix(string(name), "envoy.api.v2.")
}
