package custom

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	celtypes "cel.dev/cel-go/common/types"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/internal/words"
)

// watch records the fields in an expression that do not exist.
type watch struct {
	*typeSystem
	missing []missing
}

type missing struct{ typ, field string }

// FindStructFieldType implements celtypes.Provider.
func (w *watch) FindStructFieldType(name, field string) (*celtypes.FieldType, bool) {
	found, ok := w.typeSystem.FindStructFieldType(name, field)
	if !ok {
		w.missing = append(w.missing, missing{name, field})
	}
	return found, ok
}

// wrong reports what is wrong with an expression, and what to write instead.
func (m *maker) wrong(env *cel.Env, issues *cel.Issues, w *watch) {
	said := map[string]bool{}
	for _, e := range issues.Errors() {
		if why := reason(env, m.Expression, e, w); !said[why] {
			said[why] = true
			m.faultAt(e.Location, "%s", why)
		}
	}
}

func reason(env *cel.Env, text string, e *common.Error, w *watch) string {
	quoted := ""
	if _, after, ok := strings.Cut(e.Message, "'"); ok {
		quoted, _, _ = strings.Cut(after, "'")
	}
	switch {
	case strings.HasPrefix(e.Message, "undefined field"):
		for _, miss := range w.missing {
			if names, ok := w.FindStructFieldNames(miss.typ); ok && miss.field == quoted {
				return noField(miss.typ, miss.field, names)
			}
		}
	case strings.HasPrefix(e.Message, "undeclared reference"):
		return unknown(env, quoted, strings.HasPrefix(text[offset(text, e.Location):], "("))
	}
	if inType := noSelection().FindStringSubmatch(e.Message); inType != nil {
		if md := w.message(protoreflect.FullName(inType[1])); md != nil {
			return noEnumValue(md, dotted(text[offset(text, e.Location):]))
		}
	}
	return plain(e.Message)
}

// unknown says that a name does not exist.
func unknown(env *cel.Env, name string, called bool) string {
	if !called {
		return fmt.Sprintf("%q does not exist: the variables are this, resource and snapshot", name)
	}
	near := ""
	if len(name) > 4 { // every name is near a short one
		near = nearest.DidYouMean(name, functions(env))
	}
	return fmt.Sprintf("function %s does not exist%s", name, near)
}

// dotted returns the name with dots at the beginning of a text.
func dotted(text string) string {
	text = strings.TrimPrefix(text, ".")
	end := strings.IndexFunc(text, func(c rune) bool { return c != '.' && (c > unicode.MaxASCII || !isWord(byte(c))) })
	if end < 0 {
		return text
	}
	return text[:end]
}

// noEnumValue says that a message does not have an enum, or the enum does not have a value.
func noEnumValue(md protoreflect.MessageDescriptor, name string) string {
	var values []string
	for i := range md.Enums().Len() {
		enum := md.Enums().Get(i)
		for j := range enum.Values().Len() {
			values = append(values, fmt.Sprintf("%s.%s", enum.Name(), enum.Values().Get(j).Name()))
		}
	}
	if near := nearest.DidYouMean(name, values); near != "" || len(values) == 0 {
		return fmt.Sprintf("%s has no enum value %s%s", md.FullName(), name, near)
	}
	return fmt.Sprintf("%s has no enum value %s: it has %s", md.FullName(), name, strings.Join(values, ", "))
}

// plain puts an error of CEL into plain words.
func plain(message string) string {
	for _, p := range plainer() {
		if found := p.message.FindStringSubmatch(message); found != nil {
			return p.say(found)
		}
	}
	message, _, _ = strings.Cut(message, " expecting {")
	return words.Line(strings.ReplaceAll(message, "'<EOF>'", "the end"))
}

type plainWords struct {
	message *regexp.Regexp
	say     func(found []string) string
}

// plainer is compiled only when an expression is wrong, since most runs do not need it.
var plainer = sync.OnceValue(func() []plainWords {
	always := func(words string) func([]string) string { return func([]string) string { return words } }
	return []plainWords{
		{regexp.MustCompile(`mismatched input '<EOF>'`), always("the expression ends too early")},
		{regexp.MustCompile(`token recognition error at: '["']`), func([]string) string { return "the string that begins here is not closed" }},
		{regexp.MustCompile(`^found no matching overload for '_\?_:_'`), always("both sides of the : must have the same type")},
		{regexp.MustCompile(`^found no matching overload for '(.+)' applied to '(.+)'$`), func(found []string) string {
			return fmt.Sprintf("%s cannot be applied to %s%s", strings.Trim(found[1], "_@"), found[2], hint(found[2]))
		}},
		{regexp.MustCompile(`^type 'wrapper\(\w+\)' does not support field selection$`), always("a wrapper has no fields: it is its value, or null where it is not set")},
		{regexp.MustCompile(`^invalid matches argument$`), always("this is not a regular expression (RE2)")},
		{regexp.MustCompile(`^invalid duration argument$`), always("this is not a duration: it needs a number and a unit, such as 5s")},
		{regexp.MustCompile(`^invalid timestamp argument$`), always("this is not a time such as 2026-01-31T12:00:00Z")},
	}
})

// hint says what to write if types do not match although they seem to.
func hint(types string) string {
	switch types {
	case "(int, string)", "(string, int)":
		return "; an enum is a number, such as Cluster.DiscoveryType.EDS"
	case "(duration, int)", "(int, duration)", "(duration, string)", "(string, duration)":
		return "; a duration is written duration('5s')"
	case "(uint, int)", "(int, uint)":
		return "; an unsigned number is written 5u"
	}
	return ""
}

// noSelection is CEL's message about something that a type does not have, such as a value of an enum.
var noSelection = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^type 'type\((.+)\)' does not support field selection$`)
})

// functions returns the functions that can be called by name.
func functions(env *cel.Env) (names []string) {
	for name := range env.Functions() {
		if protoreflect.Name(name).IsValid() && name[0] != '_' && name != "in" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// noField says that a type does not have a field.
func noField(typ, field string, names []string) string {
	if near := nearest.DidYouMean(field, names); near != "" {
		return fmt.Sprintf("%s has no field %q%s", typ, field, near)
	}
	return fmt.Sprintf("%s has no field %q: it has %s", typ, field, strings.Join(names, ", "))
}

func fieldNames(md protoreflect.MessageDescriptor) (names []string) {
	for i := range md.Fields().Len() {
		names = append(names, string(md.Fields().Get(i).Name()))
	}
	return names
}

// allowed finds what CEL accepts, but a constraint cannot have.
func (m *maker) allowed(checked *cel.Ast) bool {
	before := len(m.faults)
	out := checked.OutputType()
	isBool, isString := out.IsExactType(cel.BoolType), out.IsExactType(cel.StringType)
	switch {
	case cel.FormatCELType(out) == "wrapper(bool)":
		m.faultf("expression", "the expression returns a wrapper, which is null where it is not set: compare it with == true or != false")
	case !isBool && !isString && !out.IsExactType(cel.DynType):
		m.faultf("expression", `the expression returns a value of type %s: it must return true or "" where all is well, and otherwise false or a text`, cel.FormatCELType(out))
	case !isString && strings.TrimSpace(m.Text) == "":
		m.faultf("", `the "text" is missing: the message where the expression is false`)
	}
	native := checked.NativeRep()
	ast.PreOrderVisit(native.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if why := forbidden(e, native); why != "" {
			m.faultAt(native.SourceInfo().GetStartLocation(e.ID()), "%s", why)
		}
	}))
	return len(m.faults) == before
}

// forbidden returns the reason why a part of an expression cannot be evaluated here, or "" if it can.
func forbidden(e ast.Expr, in *ast.AST) string {
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == "now" {
			return "now is not available: the same input must always have the same findings"
		}
	case ast.StructKind:
		return "an expression cannot create messages; compare fields instead"
	case ast.CallKind:
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Equals, operators.NotEquals:
			return neverNull(call.Args(), in)
		case "reaches", "reached_by":
			if why := notReached(call, in); why != "" {
				return why
			}
			return noKind(call.Args()[0])
		case "find":
			return noKind(call.Args()[0])
		}
	}
	return ""
}

// notReached says what is wrong with the receiver of reaches or reached_by.
func notReached(call ast.CallExpr, in *ast.AST) string {
	receiver := in.GetType(call.Target().ID())
	if !receiver.IsExactType(cel.DynType) && !strings.HasPrefix(receiver.TypeName(), resourcePrefix) {
		return fmt.Sprintf("only a resource leads to others, and this has the type %s", cel.FormatCELType(receiver))
	}
	return ""
}

func noKind(e ast.Expr) string {
	if e.Kind() == ast.LiteralKind {
		if _, err := config.ParseKind(fmt.Sprint(e.AsLiteral().Value())); err != nil {
			return err.Error()
		}
	}
	return ""
}

// neverNull reports a comparison with null of a value that is empty, and not null, if it is not set: the result would always be the same.
func neverNull(sides []ast.Expr, in *ast.AST) string {
	null := func(e ast.Expr) bool { return e.Kind() == ast.LiteralKind && e.AsLiteral() == celtypes.NullValue }
	if !slices.ContainsFunc(sides, null) {
		return ""
	}
	for _, e := range sides {
		switch typ := in.GetType(e.ID()); typ.Kind() {
		case celtypes.StructKind, celtypes.AnyKind, celtypes.DurationKind, celtypes.TimestampKind:
			return fmt.Sprintf("%s is never null: has(…) asks whether a field is set", cel.FormatCELType(typ))
		}
	}
	return ""
}
