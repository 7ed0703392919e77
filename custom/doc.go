// Package custom turns the constraints in a configuration into rules. A constraint is an expression in CEL, with the
// functions of protovalidate, about messages of a type, or about resources and what refers to them. It is true where
// all is well:
//
//	constraints:
//	- id: acme/cluster-name
//	  message: envoy.config.cluster.v3.Cluster
//	  field: name
//	  expression: "this.matches('^[a-z]+-[a-z]+$')"
//	  text: cluster names are team-service
//
// [Constraints] is for config.Read, which reads the configuration and lists its rules; they run like the built-in ones.
// [Rules] is for programs that also judge messages of custom extensions by the rules in their own descriptors
// (validate.go). Package config knows neither CEL nor this package: a program that passes no source of rules does not
// link them.
//
// A maker makes the rule of one constraint: it compiles the expression (language.go), in which `this` has the type of
// the message, and finds the subjects in a snapshot. Faults of an expression are put into plain words (faults.go), with
// their place in the configuration (position.go).
//
// protovalidate itself would not do, because it reads options of descriptors, and constraints are not in any
// descriptor. Nor would CEL's own view of messages: it knows only types that are linked in, opens only their Anys, and
// iterates over maps in Go's order. So types.go and message.go give CEL another one over protoreflect, in which an Any
// is what the resource's Contents say. graphvalues.go does the same for resources and references.
//
// A constraint judges the messages of a run in order. It evaluates several at once, but takes the outcomes in the order
// of the subjects (evaluation.judge): so a failure, or the end of what it may cost, is at the same subject in every
// run. Costs are limited by CEL's own units, for one evaluation and for all of a run. A constraint that cannot judge is
// reported once, and the run drops what else it has found.
package custom
