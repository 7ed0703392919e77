package version

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/xdslint/xdslint/graph/load"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
	"github.com/xdslint/xdslint/lint"
)

func TestReplacementsAreForWhatIsDeprecated(t *testing.T) {
	for name := range replacements {
		d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !deprecated(d.Options()) {
			t.Errorf("%s is not deprecated", name)
		}
	}
	for name := range wraps {
		if replacements[string(name)] == "" {
			t.Errorf("%s has a fix and no text", name)
		}
	}
}

func TestFix(t *testing.T) {
	for name, texts := range map[string][2]string{
		"yaml": {
			"\"@type\": type.googleapis.com/envoy.config.route.v3.VirtualHost\nname: a\ndomains: [\"*\"]\nroutes:\n- match: {prefix: /, headers: [{name: x, exact_match: gold}]}\n",
			"\"@type\": type.googleapis.com/envoy.config.route.v3.VirtualHost\nname: a\ndomains: [\"*\"]\nroutes:\n- match: {prefix: /, headers: [{name: x, string_match: {exact: gold}}]}\n",
		},
		"json": {
			`{"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", "name": "a", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "inline_code": "x = 1"}}`,
			`{"@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", "name": "a", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua", "default_source_code": {"inline_string": "x = 1"}}}`,
		},
	} {
		found := run(t, name, texts[0])
		if len(found) != 1 || len(found[0].Fixes) != 1 {
			t.Errorf("%s: %d findings", name, len(found))
			continue
		}
		if got := apply(texts[0], found[0].Fixes[0].Edits); got != texts[1] {
			t.Errorf("%s: fixed:\n%s\nwant:\n%s", name, got, texts[1])
		}
		if left := run(t, name, texts[1]); len(left) > 0 {
			t.Errorf("%s: the fixed one has: %s", name, left[0].Message)
		}
	}
}

func run(t *testing.T, ext, text string) []lint.Diagnostic {
	t.Helper()
	path := filepath.Join(t.TempDir(), "resource."+ext)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := load.Paths(context.Background(), []string{path}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return lint.Run(context.Background(), input.Snapshots, lint.Config{Rules: Rules.Rules()}).Diagnostics
}

func apply(text string, edits []lint.Edit) string {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b lint.Edit) int { return b.Span.Start - a.Span.Start })
	for _, e := range edits {
		text = text[:e.Span.Start] + e.New + text[e.Span.End:]
	}
	return text
}
