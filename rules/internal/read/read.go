// Package read visits the messages that Envoy builds something from when it loads a configuration, with one function for each type.
package read

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// Reader checks the messages of one type.
type Reader struct {
	name  protoreflect.FullName
	check func(p *lint.Pass, at lint.At, m proto.Message)
}

// Of returns the reader of a type.
func Of[M proto.Message](f func(p *lint.Pass, at lint.At, m M)) Reader {
	var none M
	return Reader{none.ProtoReflect().Descriptor().FullName(), func(p *lint.Pass, at lint.At, m proto.Message) { f(p, at, m.(M)) }}
}

// Named returns the reader of a type whose Go package is not linked in: that of a large one, of which little is read (internal/dynamic).
func Named(name protoreflect.FullName, f func(p *lint.Pass, at lint.At, m proto.Message)) Reader {
	return Reader{name, f}
}

// Each calls the readers for each message of their types that Envoy builds something from when it loads the configuration. It can be in a filter
// chain, from ECDS, or for a route.
func Each(readers ...Reader) lint.Check {
	checks := map[protoreflect.FullName]func(*lint.Pass, lint.At, proto.Message){}
	var names []protoreflect.FullName
	for _, r := range readers {
		checks[r.name] = r.check
		names = append(names, r.name)
	}
	return lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		if built, _ := envoy.Validated(p.Target.Extensions(), at.Place); built {
			checks[m.Descriptor().FullName()](p, at, m.Interface())
		}
	}, names...)
}
