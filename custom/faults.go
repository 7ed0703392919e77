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
	"github.com/xdslint/xdslint/lint"
)

// watch notes which fields an expression asks for in vain.
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

// wrong says at its place what is wrong with an expression, and what there is instead.
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

// unknown says that nothing has a name.
func unknown(env *cel.Env, name string, called bool) string {
	if !called {
		return fmt.Sprintf("nothing is named %q: there are this, resource and snapshot", name)
	}
	near := ""
	if len(name) > 4 { // of a short name everything is near
		near = lint.DidYouMean(name, functions(env))
	}
	return fmt.Sprintf("there is no function %s%s", name, near)
}

// dotted is the beginning of a text, as far as it is a name with dots in it.
func dotted(text string) string {
	text = strings.TrimPrefix(text, ".")
	end := strings.IndexFunc(text, func(c rune) bool { return c != '.' && (c > unicode.MaxASCII || !isWord(byte(c))) })
	if end < 0 {
		return text
	}
	return text[:end]
}

// noEnumValue says that a message has no such enum, or the enum no such value.
func noEnumValue(md protoreflect.MessageDescriptor, name string) string {
	var values []string
	for i := range md.Enums().Len() {
		enum := md.Enums().Get(i)
		for j := range enum.Values().Len() {
			values = append(values, fmt.Sprintf("%s.%s", enum.Name(), enum.Values().Get(j).Name()))
		}
	}
	if near := lint.DidYouMean(name, values); near != "" || len(values) == 0 {
		return fmt.Sprintf("%s has no enum value %s%s", md.FullName(), name, near)
	}
	return fmt.Sprintf("%s has no enum value %s: it has %s", md.FullName(), name, strings.Join(values, ", "))
}

// plain says in plain words what CEL says in its own.
func plain(message string) string {
	for _, p := range plainer() {
		if found := p.message.FindStringSubmatch(message); found != nil {
			return p.say(found)
		}
	}
	message, _, _ = strings.Cut(message, " expecting {")
	return lint.Line(strings.ReplaceAll(message, "'<EOF>'", "the end"))
}

type plainWords struct {
	message *regexp.Regexp
	say     func(found []string) string
}

// plainer is made when an expression is wrong, and not in every start of the program.
var plainer = sync.OnceValue(func() []plainWords {
	always := func(words string) func([]string) string { return func([]string) string { return words } }
	return []plainWords{
		{regexp.MustCompile(`mismatched input '<EOF>'`), always("the expression ends too early")},
		{regexp.MustCompile(`token recognition error at: '["']`), func([]string) string { return "the text that begins here does not end" }},
		{regexp.MustCompile(`^found no matching overload for '_\?_:_'`), always("both sides of the : have to be of one type")},
		{regexp.MustCompile(`^found no matching overload for '(.+)' applied to '(.+)'$`), func(found []string) string {
			return fmt.Sprintf("there is no %s for %s%s", strings.Trim(found[1], "_@"), found[2], hint(found[2]))
		}},
		{regexp.MustCompile(`^type 'wrapper\(\w+\)' does not support field selection$`), always("a wrapper has no fields: it is the value itself, or null where it is not set")},
		{regexp.MustCompile(`^invalid matches argument$`), always("this is no regular expression of RE2")},
		{regexp.MustCompile(`^invalid duration argument$`), always("this is no duration: a number and a unit, such as 5s")},
		{regexp.MustCompile(`^invalid timestamp argument$`), always("this is no time, such as 2026-01-31T12:00:00Z")},
	}
})

// hint says what to write where types do not fit that look as if they did.
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

// noSelection is CEL's message about what is asked of a type, such as a value of an enum that it does not have.
var noSelection = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^type 'type\((.+)\)' does not support field selection$`)
})

// functions are those that can be called by name.
func functions(env *cel.Env) (names []string) {
	for name := range env.Functions() {
		if protoreflect.Name(name).IsValid() && name[0] != '_' && name != "in" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// noField says that a type has no such field.
func noField(typ, field string, names []string) string {
	if near := lint.DidYouMean(field, names); near != "" {
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

// allowed finds what is right in CEL and not here.
func (m *maker) allowed(checked *cel.Ast) bool {
	before := len(m.faults)
	out := checked.OutputType()
	isBool, isString := out.IsExactType(cel.BoolType), out.IsExactType(cel.StringType)
	switch {
	case cel.FormatCELType(out) == "wrapper(bool)":
		m.faultf("expression", "the expression gives a wrapper, which is null where it is not set: compare it with == true or != false")
	case !isBool && !isString && !out.IsExactType(cel.DynType):
		m.faultf("expression", `the expression gives a value of type %s: it has to give true or "" where all is well, and false or a text where it is not`, cel.FormatCELType(out))
	case !isString && strings.TrimSpace(m.Text) == "":
		m.faultf("", `there is no "text": what to say where the expression is false`)
	}
	native := checked.NativeRep()
	ast.PreOrderVisit(native.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if why := forbidden(e, native); why != "" {
			m.faultAt(native.SourceInfo().GetStartLocation(e.ID()), "%s", why)
		}
	}))
	return len(m.faults) == before
}

// forbidden says why a part of an expression cannot be evaluated here; empty if it can.
func forbidden(e ast.Expr, in *ast.AST) string {
	switch e.Kind() {
	case ast.IdentKind:
		if e.AsIdent() == "now" {
			return "the time is not known here: the same input always has the same findings"
		}
	case ast.StructKind:
		return "an expression cannot make messages; compare fields instead"
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

// notReached says what is wrong with a call that goes through the graph.
func notReached(call ast.CallExpr, in *ast.AST) string {
	receiver := in.GetType(call.Target().ID())
	if !receiver.IsExactType(cel.DynType) && !strings.HasPrefix(receiver.TypeName(), resourcePrefix) {
		return fmt.Sprintf("only a resource leads to others, and this is of type %s", cel.FormatCELType(receiver))
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

// neverNull says what is wrong where null is compared with what is empty and not null where it is not set: nothing would ever be found, or always.
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
