package constraint

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/fields"
)

// rule is one constraint on one value: of a singular field, of an item, of a map's key or value.
type rule struct {
	broken   func(protoreflect.Value) bool
	message  string
	shown    func(protoreflect.Value) string // "is 70000", "has 3 characters", or "" where that says nothing; may be nil
	upstream string
}

func (r *rule) violation(fd protoreflect.FieldDescriptor, v protoreflect.Value) Violation {
	message := r.message
	if r.shown != nil {
		if s := r.shown(v); s != "" {
			message = s + ", " + message
		}
	}
	return Violation{Field: fd, Index: -1, Message: message, Upstream: r.upstream}
}

// singular checks a field that is neither repeated nor a map.
type singular struct {
	fd       fields.Field
	optional bool   // its rules hold only if the field is set
	required string // what PGV says if it is not set; "" if it may be unset
	rules    []rule
}

func (s *singular) check(m fields.Message, report func(Violation)) {
	if s.optional && !m.IsSet(&s.fd) {
		if s.required != "" {
			report(Violation{Field: s.fd.FieldDescriptor, Index: -1, Message: "is required", Upstream: s.required})
		}
		return
	}
	if len(s.rules) == 0 {
		return
	}
	v := m.Value(&s.fd)
	for i := range s.rules {
		if s.rules[i].broken(v) {
			report(s.rules[i].violation(s.fd.FieldDescriptor, v))
		}
	}
}
