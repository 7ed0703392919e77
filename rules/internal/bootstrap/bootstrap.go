// Package bootstrap holds the rules about what Envoy rejects in the bootstrap itself.
package bootstrap

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group. Each rule adds itself.
var Rules = &lint.Group{Name: "bootstrap", Summary: "the bootstrap, apart from its resources", Family: dataplane.Envoy}

// each calls f for a bootstrap that is not from the config dump of a running Envoy.
func each(f func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		if at.Place.Parent == nil && at.Resource().State == "" {
			f(p, at, b)
		}
	})
}

// wrong is something that Envoy rejects, and its place.
type wrong struct {
	at                      lint.At
	message, help, upstream string
}

func (w wrong) reject(p *lint.Pass) {
	p.Reject(w.at, lint.Rejection{
		Message:  w.message,
		Help:     w.help,
		Upstream: w.upstream,
	})
}

// late reports something that Envoy rejects only at a real start, not in --mode validate.
func late(p *lint.Pass, w wrong) {
	p.Report(w.at, lint.Diagnostic{
		Message: w.message, Notes: []string{envoy.OnlyAtStart}, Help: w.help, Upstream: w.upstream,
	})
}

// nameOf returns the type of a message.
func nameOf(m proto.Message) protoreflect.FullName { return m.ProtoReflect().Descriptor().FullName() }

// field returns the value of a field of a message whose type is not linked in. ok is false if it does not have the field.
func field(m proto.Message, name protoreflect.Name) (v protoreflect.Value, ok bool) {
	fd := m.ProtoReflect().Descriptor().Fields().ByName(name)
	if fd == nil {
		return v, false
	}
	return m.ProtoReflect().Get(fd), true
}
