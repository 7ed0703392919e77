package http

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// eachConfig calls f for each message of a type that configures an HTTP filter: in a chain, from ECDS, or for a route.
func eachConfig[M proto.Message](f func(p *lint.Pass, at lint.At, m M)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, m M) {
		if envoy.OuterRead(p.Target.Extensions(), at.Place) {
			f(p, at, m)
		}
	})
}

// nameOf returns the name of a message type. To name it so also links its Go package.
func nameOf(m proto.Message) protoreflect.FullName { return m.ProtoReflect().Descriptor().FullName() }

// always is a RuntimeFractionalPercent of 100 %.
var always = lint.Fields{{Name: "default_value", Value: lint.Fields{{Name: "numerator", Value: 100}, {Name: "denominator", Value: "HUNDRED"}}}}
