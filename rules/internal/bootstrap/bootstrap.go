// Package bootstrap holds the rules about what Envoy refuses in a bootstrap itself.
package bootstrap

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// Rules is the group; each rule adds itself.
var Rules = &lint.Group{Name: "bootstrap", Summary: "what is in a bootstrap besides its resources"}

// each runs f for a bootstrap that Envoy has yet to load.
func each(f func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap)) lint.Check {
	return lint.Each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		if at.Place.Parent == nil && at.Resource().State == "" {
			f(p, at, b)
		}
	})
}

// wrong is something that Envoy does not take, and where it is.
type wrong struct {
	at                      lint.At
	message, help, upstream string
}

func (w wrong) refuse(p *lint.Pass) {
	p.Reject(w.at, lint.Rejection{
		Message:  w.message,
		Help:     w.help,
		Upstream: w.upstream,
	})
}

// late reports what only a real start finds: --mode validate does not look there.
func late(p *lint.Pass, w wrong) {
	p.Report(w.at, lint.Diagnostic{
		Message: w.message, Notes: []string{envoy.OnlyAtStart}, Help: w.help, Upstream: w.upstream,
	})
}

// nameOf is the type of a message.
func nameOf(m proto.Message) protoreflect.FullName { return m.ProtoReflect().Descriptor().FullName() }

// field reads a field of a message that is not linked in; ok is false if there is no such field.
func field(m proto.Message, name protoreflect.Name) (v protoreflect.Value, ok bool) {
	fd := m.ProtoReflect().Descriptor().Fields().ByName(name)
	if fd == nil {
		return v, false
	}
	return m.ProtoReflect().Get(fd), true
}
