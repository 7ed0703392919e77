package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/xdslint/xdslint/internal/tree"
)

// Fields are a message that an edit writes, in this order.
type Fields []Entry

// List is a list that an edit writes.
type List []any

// Entry is a field of a message that an edit writes: a scalar, Fields or a List.
type Entry struct {
	Name  string
	Value any
}

// style is how the values around an edit are written.
type style struct {
	plain bool // YAML's words without quotes
	quote byte // around the old value
}

// plainWord matches texts that need no quotes in YAML, wherever a scalar is allowed.
var plainWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_./]([A-Za-z0-9_./+@%=* -]*[A-Za-z0-9_./+@%=*-])?$`)
})

// spell returns a value in brackets or as a scalar.
func spell(value any, s style) string {
	switch v := value.(type) {
	case string:
		return quoted(v, s)
	case Fields:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = spellKey(e.Name, s) + ": " + spell(e.Value, style{plain: s.plain})
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case List:
		parts := make([]string, len(v))
		for i, item := range v {
			parts[i] = spell(item, style{plain: s.plain})
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return fmt.Sprint(value)
}

func quoted(text string, s style) string {
	switch {
	case s.quote == '\'' && !strings.ContainsAny(text, "'\\\n"):
		return "'" + text + "'"
	case s.quote != '"' && s.plain && plainWord().MatchString(text) && tree.IsString(text):
		return text
	}
	return doubleQuoted(text)
}

// doubleQuoted returns a string in quotes that are valid in YAML and in JSON.
func doubleQuoted(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a string
	return strings.TrimSuffix(b.String(), "\n")
}

// identifier matches names that need no quotes as a key, in YAML and in Envoy's JSON.
var identifier = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })

// dotted matches the names of extensions. They need no quotes as a key in YAML.
var dotted = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]*([./-][A-Za-z0-9_]+)+$`) })

func spellKey(name string, s style) string {
	if s.plain && (identifier().MatchString(name) || dotted().MatchString(name)) {
		return name
	}
	return doubleQuoted(name)
}

// respell returns a key in the style of the existing one.
func respell(old []byte, name string) string {
	switch {
	case len(old) > 0 && old[0] == '"':
		return doubleQuoted(name)
	case len(old) > 0 && old[0] == '\'' && !strings.ContainsAny(name, "'\\"):
		return "'" + name + "'"
	case bytes.ContainsAny(old, ".-/") && plainWord().MatchString(name):
		return name
	}
	return spellKey(name, style{plain: true})
}

// lowerCamel returns the lowerCamelCase spelling of a field's name, as in proto JSON.
func lowerCamel(name string) string {
	parts := strings.Split(name, "_")
	for i := 1; i < len(parts); i++ {
		if parts[i] != "" {
			parts[i] = strings.ToUpper(parts[i][:1]) + parts[i][1:]
		}
	}
	return strings.Join(parts, "")
}

func (f Fields) lowerCamel() Fields {
	all := make(Fields, len(f))
	for i, e := range f {
		all[i] = Entry{lowerCamel(e.Name), e.Value}
		if inner, ok := e.Value.(Fields); ok {
			all[i].Value = inner.lowerCamel()
		}
	}
	return all
}

// beside reports whether an entry has a value.
func (f Fields) beside() bool {
	return slices.ContainsFunc(f, func(e Entry) bool { return e.Value != nil })
}
