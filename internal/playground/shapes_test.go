package playground

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/drawing"
	"github.com/xdslint/xdslint/internal/requestbar"
)

// shapes are the interfaces of a TypeScript file: of each, its fields with their types.
type shapes map[string]map[string]string

var (
	declaration = regexp.MustCompile(`(?s)export interface (\w+)(?: extends (\w+))? \{\n(.*?)\n\}`)
	comment     = regexp.MustCompile(`//.*`)
	reference   = regexp.MustCompile(`[A-Z]\w+`)
)

func readShapes(t *testing.T) shapes {
	t.Helper()
	text, err := os.ReadFile("../../web/src/engine/shapes.ts")
	if err != nil {
		t.Fatal(err)
	}
	all := shapes{}
	for _, m := range declaration.FindAllStringSubmatch(string(text), -1) {
		fields := fieldsOf(comment.ReplaceAllString(m[3], ""))
		maps.Copy(fields, all[m[2]])
		all[m[1]] = fields
	}
	return all
}

// fieldsOf reads "name: type; name?: type".
func fieldsOf(body string) map[string]string {
	fields := map[string]string{}
	depth, start := 0, 0
	for i, c := range body + ";" {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ';' && depth == 0:
			if name, kind, ok := strings.Cut(body[start:i], ":"); ok {
				fields[strings.TrimSpace(name)] = strings.TrimSpace(kind)
			}
			start = i + 1
		}
	}
	return fields
}

// inner is the text in braces.
func inner(kind string) string { return strings.TrimSuffix(strings.TrimPrefix(kind, "{"), "}") }

// TestShapes: what the page takes an answer for is what Go writes: each field, its kind, and whether it may be absent or null.
func TestShapes(t *testing.T) {
	all := readShapes(t)
	answers := map[string]any{
		"about": aboutAnswer{}, "lint": lintAnswer{}, "graph": drawing.Shape{}, "plan": planAnswer{}, "explain": explainAnswer{}, "fix": fixAnswer{},
		"verdict": verdictAnswer{}, "redact": redactAnswer{}, "follow": requestbar.Answer{}, "holes": requestbar.Holes{},
	}
	asked := keys(fieldsOfGo(reflect.TypeFor[request]()))
	for operation, both := range all["Operations"] {
		shape := fieldsOf(inner(both))
		if answers[operation] == nil || operations[operation] == nil {
			t.Errorf("Go knows no operation %s", operation)
			continue
		}
		all.compare(t, operation, shape["answer"], reflect.TypeOf(answers[operation]))
		for name := range fieldsOf(inner(shape["request"])) {
			if !slices.Contains(asked, strings.TrimSuffix(name, "?")) {
				t.Errorf("%s: Go does not look at %s of a request", operation, name)
			}
		}
		delete(answers, operation)
	}
	for operation := range answers {
		t.Errorf("shapes.ts does not have the operation %s", operation)
	}
}

// compare holds a type of TypeScript to one of Go.
func (s shapes) compare(t *testing.T, at, kind string, got reflect.Type) {
	kind, nullable := strings.CutSuffix(kind, " | null")
	if got.Kind() == reflect.Pointer {
		if !nullable && !strings.HasSuffix(at, "?") {
			t.Errorf("%s can be null", at)
		}
		got = got.Elem()
	}
	switch {
	case strings.HasSuffix(kind, "[]"):
		if got.Kind() != reflect.Slice {
			t.Errorf("%s is %s, and %s in Go", at, kind, got)
			return
		}
		s.compare(t, at+"[]", strings.TrimSuffix(kind, "[]"), got.Elem())
		return
	case kind == "Files", strings.HasPrefix(kind, "Record<"):
		if got.Kind() != reflect.Map {
			t.Errorf("%s is %s, and %s in Go", at, kind, got)
			return
		}
		if name := reference.FindString(strings.TrimPrefix(kind, "Record")); kind != "Files" && name != "" {
			s.compare(t, at+"[]", name, got.Elem())
		}
		return
	case got.Kind() != reflect.Struct:
		want := map[string]reflect.Kind{"string": reflect.String, "number": reflect.Int, "boolean": reflect.Bool, "Severity": reflect.String}[kind]
		if strings.HasPrefix(kind, `"`) {
			want = reflect.String // one of several words
		}
		if want != got.Kind() {
			t.Errorf("%s is %s, and %s in Go", at, kind, got)
		}
		return
	}
	fields := s[kind]
	if strings.HasPrefix(kind, "{") {
		fields = fieldsOf(inner(kind))
	}
	inGo := fieldsOfGo(got)
	if want, have := keys(fields), keys(inGo); !slices.Equal(want, have) {
		t.Errorf("%s: shapes.ts has %v, and Go %v", at, want, have)
		return
	}
	for name, kind := range fields {
		s.compare(t, at+"."+name, kind, inGo[name])
	}
}

// fieldsOfGo are a struct's fields as JSON has them; those that may be left out end in "?".
func fieldsOfGo(of reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for i := range of.NumField() {
		f := of.Field(i)
		if f.Anonymous {
			maps.Copy(fields, fieldsOfGo(f.Type))
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if options == "omitempty" {
			name += "?"
		}
		fields[name] = f.Type
	}
	return fields
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
