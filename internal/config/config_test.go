package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
)

var (
	group   = &lint.Group{Name: "schema"}
	nothing = lint.ForSnapshot(func(*lint.Pass) {})
	one     = group.Add(&lint.Rule{Name: "one", Run: nothing})
	two     = group.Add(&lint.Rule{Name: "one-two", Run: nothing})
)

const schemaFile = "../../docs/xdslint.schema.json"

func parse(text string) (*Config, error) {
	return Parse(&source.File{Name: "x.yaml", Text: []byte(text)}, group.Rules(), nil)
}

// TestSchemaIsCurrent: the published schema has the keys of the Go structs, and the names that the code accepts.
func TestSchemaIsCurrent(t *testing.T) {
	raw, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct {
			Enum        []any
			Description string
			Items       object2
		}
	}
	var schema struct {
		object
		Defs struct {
			Kind struct{ Enum []graph.Kind }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	var got []string
	for key, p := range schema.Properties {
		got = append(got, key)
		if p.Description == "" {
			t.Errorf("%s has no description", key)
		}
	}
	slices.Sort(got)
	if want := keysOf(Config{}); !slices.Equal(got, want) {
		t.Errorf("the schema has %v, the struct %v", got, want)
	}
	for key, element := range map[string]any{"ignores": suppress.Ignore{}, "constraints": Constraint{}, "plugins": Plugin{}} {
		inner := slices.Sorted(maps.Keys(schema.Properties[key].Items.Properties))
		if want := keysOf(element); !slices.Equal(inner, want) {
			t.Errorf("%s: the schema has %v, the struct %v", key, inner, want)
		}
	}
	if !slices.Equal(schema.Defs.Kind.Enum, graph.Kinds()) {
		t.Errorf("kinds are %v", schema.Defs.Kind.Enum)
	}
	for _, v := range schema.Properties["fail-on"].Enum {
		if s, ok := v.(string); ok {
			if _, err := ParseFailOn(s); err != nil {
				t.Error(err)
			}
		}
	}
}

type object2 struct{ Properties map[string]any }

func keysOf(v any) (keys []string) {
	for i := range reflect.TypeOf(v).NumField() {
		if name := reflect.TypeOf(v).Field(i).Tag.Get("yaml"); name != "-" && name != "" {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys)
	return keys
}

// The schema and the program accept the same texts, as far as a schema can.
func TestSchemaAgrees(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	for text, ok := range map[string]bool{
		"":         true,
		"paths:\n": true,
		"paths: [a, b]\ntargets: [envoy:1.40]\nfail-on: never\n": true,
		"severities: {schema: warning, schema/one: \"off\"}":     true,
		"severities: {schema: off}":                              true,
		"profile: edge":                                          true,
		"profile: public":                                        false,
		"now: \"2027-01-31\"\nexpiry-days: 0":                    true,
		"now: soon":                                              false,
		"expiry-days: -1":                                        false,
		"require: rbac on a.test/**":                             true,
		"require: [rbac on a.test/**]":                           true,
		"require:\n":                                             true,
		"require: {rbac: a.test}":                                false,
		"require: [1]":                                           false,
		"severities: {schema: fatal}":                            false,
		"ignores: [{rule: schema, reason: x}]":                   true,
		"ignores: [{rule: schema, resource: cluster/*, field: a, reason: x}]": true,
		"ignores: [{rule: schema}]":                                   false,
		"ignores: [{reason: x}]":                                      false,
		"ignores: {rule: schema}":                                     false,
		"assume: [\"cluster:a*\"]\nopen: [secret]\nclosed: [cluster]": true,
		"assume: [cluster]":                                           false,
		"open: [secrets]":                                             false,
		"open: secret":                                                false,
		"fail-on: fatal":                                              false,
		"plugins: [{path: rules.wasm}]":                               true,
		"plugins: [{path: rules.wasm, sha256: " + strings.Repeat("0a", 32) + "}]": true,
		"plugins: [{path: rules.wasm, sha256: 0a}]":                               false,
		"plugins: [{sha256: " + strings.Repeat("0a", 32) + "}]":                   false,
		"targets: [grpc-java]":                        true,
		"targets-by-path: {clients/: [grpc-go:1.85]}": true,
		"targets-by-path: {clients/: []}":             false,
		"targets-by-path: {clients/: grpc-go:1.85}":   false,
		"targets-by-path: [clients/]":                 false,
		"path: [a]":                                   false,
		"[a]":                                         false,
	} {
		var value any
		if err := yaml.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != ok {
			t.Errorf("%q: the schema says %v", text, err)
		}
		if _, err := parse(text); (err == nil) != ok {
			t.Errorf("%q: the program says %v", text, err)
		}
	}
}

func TestSeverity(t *testing.T) {
	for _, c := range []struct{ text, one, two string }{
		{`{}`, "", ""},
		{`{"*": info}`, "info", "info"},
		{`{"*": info, schema: warning}`, "warning", "warning"},
		{`{schema: warning, "schema/one*": error}`, "error", "error"},
		{`{schema: warning, schema/one: error}`, "error", "warning"},
		{`{"schema/*": info, "schema/one-*": "off", schema/one: error}`, "error", "off"},
	} {
		s, err := parse("severities: " + c.text)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := s.Severity(one), s.Severity(two); a != c.one || b != c.two {
			t.Errorf("%s: %q, %q, want %q, %q", c.text, a, b, c.one, c.two)
		}
	}
}

func TestTargetsOf(t *testing.T) {
	s, err := Parse(&source.File{Name: "team/.xdslint.yaml", Text: []byte(`targets-by-path:
  clients/: [grpc-go]
  clients/legacy: [grpc-java, grpc-java]
  clients/legacy/*.json: [grpc-core]
  "*.yaml": [envoy:1.36]
  ../shared: [envoy:1.37]
`)}, group.Rules(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"team/clients/a.yaml":            "grpc-go:1.85",
		"team/clients/deep/er/a.yaml":    "grpc-go:1.85",
		"team/clients/legacy/a.yaml":     "grpc-java:1.85",
		"team/clients/legacy/a.json":     "grpc-core:1.83",
		"team/clients/legacy/sub/a.json": "grpc-java:1.85",
		"team/a.yaml":                    "envoy:1.36",
		"team/sub/a.yaml":                "",
		"team/clientsmore/a.json":        "",
		"clients/a.yaml":                 "",
		"shared/a.yaml":                  "envoy:1.37",
		"a.yaml":                         "",
		"-":                              "",
	} {
		if got := dataplane.Join(s.TargetsOf(file)); got != want {
			t.Errorf("%s is for %q, want %q", file, got, want)
		}
	}
	if got := dataplane.Join(s.AllTargets([]dataplane.Target{dataplane.Default()})); got != "envoy:1.40, envoy:1.36, envoy:1.37, grpc-go:1.85, grpc-java:1.85, grpc-core:1.83" {
		t.Errorf("all targets are %s", got)
	}
}

func TestPlaces(t *testing.T) {
	_, err := parse("ignores:\n- rule: schema\n  reason: x\n  reasn: y\npaths: [a]\npaths: [b]\n")
	want := "x.yaml:4:3: unknown key \"reasn\" (did you mean \"reason\"?)\nx.yaml:6:1: duplicate key \"paths\""
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestDuplicateKey: the last value counts, and errors in it have its place.
func TestDuplicateKey(t *testing.T) {
	for text, want := range map[string]string{
		"plugins:\n- path: a\nplugins: []\n":                                `x.yaml:3:1: duplicate key "plugins"`,
		"plugins: []\nplugins:\n- path: a\n  sha256: x\n":                   "x.yaml:2:1: duplicate key \"plugins\"\nx.yaml:4:11: \"x\" is not a SHA-256: it needs 64 hexadecimal digits, as sha256sum prints them",
		"severities:\n  nosuch: error\n  nosuch: info\n":                    "x.yaml:3:3: duplicate key \"nosuch\"\nx.yaml:3:3: no rule or group is named \"nosuch\"",
		"severities:\n  schema: big\n  schema/one: info\n  schema: error\n": `x.yaml:4:3: duplicate key "schema"`,
	} {
		_, err := parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%s: got\n%v\nwant\n%s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"plugins:\n- path: a\nplugins: []\n", "severities: {schema: off}\nignores:\n- {rule: schema, reason: x, until: 2030-01-01}\n",
		"targets-by-path:\n  a/*: [envoy:1.36]\nrequire: ext_authz on */**\nexpiry-days: 3\n",
		"constraints:\n- {id: a/b, message: envoy.config.cluster.v3.Cluster, expression: this.name != '', text: x}\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, first := parse(text)
		if _, again := parse(text); fmt.Sprint(first) != fmt.Sprint(again) {
			t.Errorf("%v, then %v", first, again)
		}
	})
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "repo", "a", "b")
	if err := os.MkdirAll(filepath.Join(root, "repo", ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	put := func(dir string) string {
		name := filepath.Join(root, dir, FileName)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	put(".") // above the repository: not for it
	if got := Find(deep, FileName); got != "" {
		t.Errorf("found %s outside the repository", got)
	}
	if want := put("repo"); Find(deep, FileName) != want {
		t.Errorf("found %s, want %s", Find(deep, FileName), want)
	}
	if want := put("repo/a"); Find(deep, FileName) != want {
		t.Errorf("found %s, want %s", Find(deep, FileName), want)
	}
}
