package schema

import (
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/constraint"
	"github.com/xdslint/xdslint/lint"
)

// Broken finds a value for which Envoy refuses a whole response when it reads the resource (MessageUtil::anyConvertAndValidate): one that breaks
// a constraint, or a bad duration, in the message itself. What its Anys hold is checked later, and refuses the resource alone.
func Broken(t dataplane.Target, r *graph.Resource) (at lint.At, what string, found bool) {
	r.Walk(func(place *graph.Place) {
		if found || envoy.EnclosingAny(place) != nil {
			return
		}
		where := place.At()
		for _, d := range badDurations(place.Message) {
			at, what, found = d.in(where), string(d.fd.Name())+" "+d.what, true
			return
		}
		if _, constraints := envoy.Validated(t.Extensions(), place); !constraints {
			return
		}
		undecoded := undecodedFields(place)
		checker(t, place.Message.Descriptor()).Check(place.Message, func(v constraint.Violation) {
			if !found && !undecoded.explains(v) {
				at, what = violated(where, v)
				what, found = what+" "+v.Message, true
			}
		})
	})
	return at, what, found
}
