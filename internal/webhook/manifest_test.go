package webhook

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"
)

// TestManifest: the manifest has the same texts as the ConfigMap, whatever they are.
func TestManifest(t *testing.T) {
	lines := rapid.Custom(func(t *rapid.T) string {
		piece := rapid.SampledFrom([]string{"a: 1", "# c", "\n", " ", "\t", "- x", "---", "...", "é🙂", "\r", "\u0085", "\u2028", "\ufeff", "\x00", "\x7f", `"`, "%Y"})
		return strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
	})
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.MapOf(rapid.StringMatching(`[-._a-zA-Z0-9]{1,8}`), rapid.OneOf(lines, rapid.String())).Draw(t, "data")
		object, err := json.Marshal(map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": map[string]any{"name": "edge", "labels": map[string]string{"note": lines.Draw(t, "note")}},
		})
		if err != nil {
			t.Fatal(err)
		}
		name, text := manifest(object)
		var got struct {
			Kind string            `yaml:"kind"`
			Data map[string]string `yaml:"data"`
		}
		if err := yaml.Unmarshal(text, &got); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		if name != "object.yaml" || got.Kind != "ConfigMap" || !maps.Equal(got.Data, data) {
			t.Fatalf("%s, %q, want %q:\n%s", name, got.Data, data, text)
		}
	})
}
