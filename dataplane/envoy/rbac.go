package envoy

import (
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
)

// RulesIgnored reports whether a place is in the rules of an RBAC filter that has a matcher as well: Envoy then ignores the rules
// (createEngine and createShadowEngine in source/extensions/filters/common/rbac/utility.h).
func RulesIgnored(at *graph.Place) bool {
	for ; at != nil; at = at.Parent {
		fd := FieldOf(at)
		if fd == nil || fd.ContainingMessage().Name() != "RBAC" {
			continue
		}
		if before, ok := strings.CutSuffix(string(fd.Name()), "rules"); ok {
			matcher := fd.ContainingMessage().Fields().ByName(protoreflect.Name(before + "matcher"))
			return matcher != nil && at.Parent.Message.Has(matcher)
		}
	}
	return false
}
