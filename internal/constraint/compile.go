package constraint

import (
	"sync"

	"github.com/envoyproxy/protoc-gen-validate/validate"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/fields"
	"github.com/xdslint/xdslint/internal/redact"
)

// compile returns the constraints of a message type, or nil if there are none.
func compile(md protoreflect.MessageDescriptor, rules func(protoreflect.FieldDescriptor) *validate.FieldRules) *Checker {
	if unchecked(md) {
		return nil
	}
	c := &Checker{desc: md}
	var optional []fieldCheck
	members := map[protoreflect.Name]map[protoreflect.FieldNumber]fieldCheck{}
	for i := range md.Fields().Len() {
		fd := md.Fields().Get(i)
		check := compileField(fd, rules(fd))
		switch oneof := fd.ContainingOneof(); {
		case check == nil:
		case oneof == nil:
			c.fields = append(c.fields, check)
		case oneof.IsSynthetic():
			optional = append(optional, check)
		default:
			if members[oneof.Name()] == nil {
				members[oneof.Name()] = map[protoreflect.FieldNumber]fieldCheck{}
			}
			members[oneof.Name()][fd.Number()] = check
		}
	}
	c.fields = append(c.fields, optional...)
	for i := range md.Oneofs().Len() {
		od := md.Oneofs().Get(i)
		required := !od.IsSynthetic() && flag(od.Options(), rulesNumber)
		if required || len(members[od.Name()]) > 0 {
			c.oneofs = append(c.oneofs, oneofCheck{od, required, fields.Members(od), members[od.Name()]})
		}
	}
	if len(c.fields) == 0 && len(c.oneofs) == 0 {
		return nil
	}
	return c
}

// compileField returns nil for a field without constraints.
func compileField(fd protoreflect.FieldDescriptor, r *validate.FieldRules) fieldCheck {
	if r == nil {
		return nil
	}
	quiet := redact.Sensitive(fd)
	switch {
	case fd.IsMap():
		return compileMap(fd, r.GetMap(), quiet)
	case fd.IsList():
		return compileList(fd, r.GetRepeated(), quiet)
	default:
		return compileSingular(fd, r, quiet)
	}
}

func compileSingular(fd protoreflect.FieldDescriptor, r *validate.FieldRules, quiet bool) fieldCheck {
	s := &singular{fd: fields.One(fd), rules: valueRules(fd, r, quiet)}
	// A member of a oneof, and a field with proto3's optional, is looked at only if it is set, so nothing can require it.
	// An unset proto2 scalar is checked as its default.
	inOneof := fd.ContainingOneof() != nil
	s.optional = inOneof || fd.Message() != nil
	if !inOneof {
		s.required = requiredReason(fd, r)
	}
	if s.required == "" && len(s.rules) == 0 {
		return nil
	}
	return s
}

// requiredReason returns what PGV says about an unset message, or "" if it may be unset.
func requiredReason(fd protoreflect.FieldDescriptor, r *validate.FieldRules) string {
	if fd.Message() == nil {
		return ""
	}
	switch t := r.GetType().(type) {
	case nil:
		return pick(r.GetMessage().GetRequired(), "value is required", "")
	case *validate.FieldRules_Any: // on any message: see Skip
		return pick(t.Any.GetRequired(), "value is required", "")
	case *validate.FieldRules_Duration:
		return pick(t.Duration.GetRequired(), "value is required", "")
	case *validate.FieldRules_Timestamp:
		return pick(t.Timestamp.GetRequired(), "value is required", "")
	}
	if wrappedField(fd.Message()) != nil {
		return pick(r.GetMessage().GetRequired(), "value is required and must not be nil.", "")
	}
	return ""
}

func compileList(fd protoreflect.FieldDescriptor, r *validate.RepeatedRules, quiet bool) fieldCheck {
	if r == nil {
		return nil
	}
	l := &list{
		fd:          fields.One(fd),
		size:        newSizeRule(r.MinItems, r.MaxItems, "item", "items", quiet),
		ignoreEmpty: r.GetIgnoreEmpty(),
		unique:      r.GetUnique() && fd.Message() == nil,
		items:       valueRules(fd, r.GetItems(), quiet),
	}
	if l.size == nil && !l.unique && len(l.items) == 0 {
		return nil
	}
	return l
}

func compileMap(fd protoreflect.FieldDescriptor, r *validate.MapRules, quiet bool) fieldCheck {
	if r == nil {
		return nil
	}
	p := &mapping{
		fd:          fd,
		size:        newSizeRule(r.MinPairs, r.MaxPairs, "pair", "pairs", quiet),
		ignoreEmpty: r.GetIgnoreEmpty(),
		noSparse:    r.GetNoSparse() && fd.MapValue().Message() != nil,
		keys:        valueRules(fd.MapKey(), r.GetKeys(), quiet),
		values:      valueRules(fd.MapValue(), r.GetValues(), quiet),
	}
	if p.size == nil && !p.noSparse && len(p.keys) == 0 && len(p.values) == 0 {
		return nil
	}
	return p
}

// valueRules compiles the rules for one value of a field. Whether the value must be present is not checked here.
func valueRules(fd protoreflect.FieldDescriptor, r *validate.FieldRules, quiet bool) []rule {
	rules := kindRules(fd, r)
	if quiet {
		for i := range rules {
			rules[i].shown = nil
		}
	}
	return rules
}

func kindRules(fd protoreflect.FieldDescriptor, r *validate.FieldRules) []rule {
	md := fd.Message()
	if md == nil {
		return scalarRules(fd, r)
	}
	switch t := r.GetType().(type) {
	case *validate.FieldRules_Any:
		if isWellKnown(md, "Any") {
			return anyRules(t.Any)
		}
	case *validate.FieldRules_Duration:
		if isWellKnown(md, "Duration") {
			return durationRules(t.Duration)
		}
	case *validate.FieldRules_Timestamp:
		if isWellKnown(md, "Timestamp") {
			return timestampRules(t.Timestamp)
		}
	default:
		if wrapped := wrappedField(md); wrapped != nil {
			return wrapperRules(wrapped, r)
		}
	}
	return nil
}

var skips sync.Map // of bool by protoreflect.FieldDescriptor

// Skip reports whether PGV does not check the messages in a field. There are three reasons. The field has
// (validate.rules).message.skip (a repeated field or a map: in its items or values). The message around it, or the one
// that it holds, is disabled or ignored. Or it has rules of another type, such as the `any = {required: true}` on the
// ConfigSource in ExtensionConfigSource. An Any is not skipped: Envoy checks its content separately from the message
// around it.
func Skip(fd protoreflect.FieldDescriptor) bool {
	if skip, ok := skips.Load(fd); ok {
		return skip.(bool)
	}
	skip := skipped(fd)
	skips.Store(fd, skip)
	return skip
}

func skipped(fd protoreflect.FieldDescriptor) bool {
	held, r := fd, rulesOf(fd)
	switch {
	case fd.IsMap():
		held, r = fd.MapValue(), r.GetMap().GetValues()
	case fd.IsList():
		r = r.GetRepeated().GetItems()
	}
	if held.Message() == nil || isWellKnown(held.Message(), "Any") {
		return false
	}
	if unchecked(fd.ContainingMessage()) || unchecked(held.Message()) {
		return true
	}
	return r.GetType() != nil || r.GetMessage().GetSkip()
}
