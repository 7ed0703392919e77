package custom

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// Rules adds the checks that need CEL to a list of rules: it replaces lint.InvalidMessage, which has no check, by a rule of the same name that has one.
func Rules(known []*lint.Rule) []*lint.Rule {
	all := slices.Clone(known)
	if i := slices.Index(all, lint.InvalidMessage); i >= 0 {
		all[i] = invalidMessage
	}
	return all
}

// invalidMessage is created once, since callers may compare rules.
var invalidMessage = func() *lint.Rule {
	rule := *lint.InvalidMessage
	rule.Run = lint.EachMatching(own, validated)
	return &rule
}()

// own reports whether a message is not part of Envoy's API.
func own(_ dataplane.Target, md protoreflect.MessageDescriptor) bool {
	_, err := types.Envoy.FindFileByPath(md.ParentFile().Path())
	return err != nil && md.FullName().Parent() != "google.protobuf"
}

// validator compiles the rules of a type when it is first needed.
var validator = sync.OnceValue(func() protovalidate.Validator {
	v, err := protovalidate.New()
	if err != nil {
		panic(err) // it depends on nothing
	}
	return v
})

func validated(p *lint.Pass, at lint.At, m protoreflect.Message) {
	if parent := at.Place.Parent; parent != nil && own(p.Target, parent.Message.Descriptor()) {
		return // it was validated with the message around it
	}
	err := validator().Validate(m.Interface())
	var invalid *protovalidate.ValidationError
	switch {
	case err == nil:
	case errors.As(err, &invalid):
		for _, v := range invalid.Violations {
			p.Report(violated(at, v.Proto.GetField()), lint.Diagnostic{
				Message: words.Line(v.Proto.GetMessage()),
				Notes:   []string{fmt.Sprintf("required by the rule %s of %s", v.Proto.GetRuleId(), m.Descriptor().FullName())},
			})
		}
	default:
		p.Reportf(at, "the rules of %s cannot be evaluated: %s", m.Descriptor().FullName(), words.Line(err.Error()))
	}
}

// violated returns the place of the field that a violation names.
func violated(at lint.At, path *validate.FieldPath) lint.At {
	for _, e := range path.GetElements() {
		name := e.GetFieldName()
		switch key := e.GetSubscript().(type) {
		case nil:
			at = at.Field(name)
		case *validate.FieldPathElement_Index:
			at = at.Item(name, int(key.Index))
		default:
			at = at.Entry(name, keyOf(e))
		}
	}
	return at
}

// keyOf returns the key of a map in the form of paths.
func keyOf(e *validate.FieldPathElement) string {
	switch key := e.GetSubscript().(type) {
	case *validate.FieldPathElement_BoolKey:
		return fmt.Sprint(key.BoolKey)
	case *validate.FieldPathElement_IntKey:
		return fmt.Sprint(key.IntKey)
	case *validate.FieldPathElement_UintKey:
		return fmt.Sprint(key.UintKey)
	}
	return e.GetStringKey()
}
