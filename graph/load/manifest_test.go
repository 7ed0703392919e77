package load

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

// given loads texts, and shows where in its object each resource and problem is.
func given(t *testing.T, texts map[string]string) string {
	t.Helper()
	raw := map[string][]byte{}
	for name, text := range texts {
		raw[name] = []byte(text)
	}
	in, err := Texts(context.Background(), raw, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, s := range in.Snapshots {
		fmt.Fprintf(&b, "snapshot %q loose=%v\n", s.Name, s.NoBootstrap)
		for _, r := range s.Resources {
			fmt.Fprintf(&b, "  %s %q in %v %s", r.Kind, r.Name, r.Object, r.Within)
			if r.Fragment {
				b.WriteString(" fragment")
			}
			b.WriteByte('\n')
			for _, p := range r.Problems {
				fmt.Fprintf(&b, "    %s %q: %s\n", r.InObject(p.Path), r.File.Text[p.Span.Start:p.Span.End], p.Message)
			}
		}
	}
	for _, f := range in.Files {
		fmt.Fprintf(&b, "%s: %s%s\n", f.Path, f.As, f.Why)
	}
	return b.String()
}

func TestManifestStream(t *testing.T) {
	expect(t, given(t, map[string]string{"all.yaml": `
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: retries, namespace: shop}
spec:
  configPatches:
  - applyTo: HTTP_ROUTE
    patch: {operation: MERGE, value: {route: {retry_policy: {num_retry: 3}}}}
  - applyTo: CLUSTER
    patch: {operation: ADD, value: {name: a}}
  - applyTo: CLUSTER
    patch: {operation: REMOVE}
---
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: unlabelled}
  data: {envoy.yaml: "static_resources: {}"}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: settings}
  data: {app.yaml: "tracing: {enabled: true}"}
- apiVersion: gateway.envoyproxy.io/v1alpha1
  kind: EnvoyPatchPolicy
  metadata: {generateName: pol-}
  spec:
    jsonPatches:
    - type: type.googleapis.com/envoy.config.cluster.v3.Cluster
      name: a
      operation: {op: replace, path: /circuit_breakers/thresholds/0/max_connections, value: many}
`}), `
snapshot "EnvoyFilter shop/retries" loose=false
  patch "EnvoyFilter shop/retries" in EnvoyFilter shop/retries spec.configPatches[0].patch.value fragment
    spec.configPatches[0].patch.value.route.retry_policy.num_retry "num_retry": envoy.config.route.v3.RetryPolicy has no field "num_retry"
snapshot "EnvoyFilter shop/retries" loose=false
  patch "EnvoyFilter shop/retries" in EnvoyFilter shop/retries spec.configPatches[1].patch.value
snapshot "all.yaml" loose=false
  bootstrap "" in ConfigMap unlabelled data["envoy.yaml"]
snapshot "EnvoyPatchPolicy pol-" loose=false
  patch "EnvoyPatchPolicy pol-" in EnvoyPatchPolicy pol- spec.jsonPatches[0].operation.value fragment
    spec.jsonPatches[0].operation.value "many": a string (many) where a uint32 is expected
all.yaml: Kubernetes manifest (EnvoyFilter, ConfigMap, EnvoyPatchPolicy)
`)
}

func TestConfigMaps(t *testing.T) {
	expect(t, given(t, map[string]string{
		"a.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: edge, namespace: shop, labels: {xdslint.dev/check: ""}}
data:
  envoy.yaml: |
    dynamic_resources:
      lds_config: {path_config_source: {path: /etc/envoy/lds.yaml}}
      cds_config: {path_config_source: {path: /etc/envoy/absent.yaml}}
  lds.yaml: |
    resources: []
    version_info: {}
  run.sh: |
    exec envoy {{ "-c" }}
binaryData:
  extra.yaml: cmVzb3VyY2VzOiBbeyJAdHlwZSI6IHR5cGUuZ29vZ2xlYXBpcy5jb20vZW52b3kuY29uZmlnLmNsdXN0ZXIudjMuQ2x1c3RlciwgbmFtZTogYX1dCg==
`,
		"b.json": `{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "labels": {"xdslint.dev/check": "yes"}},
  "data": {"envoy.json": "eyJzdGF0aWNfcmVzb3VyY2UiOiB7fSwgImFkbWluIjoge319"}, "stringData": {"note.txt": "x"}}`,
		"c.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, labels: {xdslint.dev/check: \"false\"}}\ndata: {envoy.yaml: \"static_resources: {}\"}\n",
		"d.yaml": "apiVersion: v1\nkind: Secret\nmetadata: {name: d}\n",
		"e.yaml": "apiVersion: example.com/v1\nkind: EnvoyFilter\nmetadata: {name: e}\nspec: {configPatches: 5}\n",
	}), `
snapshot "a.yaml" loose=false
  bootstrap "" in ConfigMap shop/edge data["envoy.yaml"]
  file "a.yaml" in ConfigMap shop/edge data["lds.yaml"]
    data["lds.yaml"] "{}": a map where a string is expected
snapshot "" loose=true
  cluster "a" in ConfigMap shop/edge binaryData["extra.yaml"]
snapshot "b.json" loose=false
  bootstrap "" in Secret s data["envoy.json"]
    data["envoy.json"] "\"eyJzdGF0aWNfcmVzb3VyY2UiOiB7fSwgImFkbWluIjoge319\"": envoy.config.bootstrap.v3.Bootstrap has no field "static_resource"
a.yaml: Kubernetes manifest (ConfigMap)
b.json: Kubernetes manifest (Secret)
c.yaml: a ConfigMap with the label xdslint.dev/check: false
d.yaml: a Secret in which no text is plainly xDS, and without the label xdslint.dev/check
e.yaml: it is a Kubernetes object (EnvoyFilter)
`)
}

// TestObjectInAText: an object within a text of another object is not read.
func TestObjectInAText(t *testing.T) {
	got := given(t, map[string]string{"a.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: nested, labels: {xdslint.dev/check: ""}}
data:
  filter.yaml: |
    apiVersion: networking.istio.io/v1alpha3
    kind: EnvoyFilter
    metadata: {name: a}
    spec: {configPatches: 5}
`})
	if !strings.Contains(got, `the object has the label xdslint.dev/check, but no text in it is`) || strings.Contains(got, "configPatches") {
		t.Error(got)
	}
}

// TestUnrelatedManifests: a folder of charts and manifests without any relation to Envoy has no findings.
func TestUnrelatedManifests(t *testing.T) {
	got := load(t, `
-- k8s/deploy.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: nginx}
data: {nginx.conf: "server {}"}
-- k8s/templates/filter.yaml --
{{- if .Values.filter }}
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
spec:
  configPatches:
  - applyTo: HTTP_FILTER
    patch:
      operation: ADD
      value:
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
          inlineCode: {{ .Values.code }}
{{- end }}
-- k8s/values.yaml --
replicas: 3
`, Options{}, "k8s")
	expect(t, got, "\n")
}

// TestBlockLiteral: each byte of a block literal is found in the file.
func TestBlockLiteral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(t, "eol")
		indent := rapid.IntRange(1, 5).Draw(t, "indent")
		inner := rapid.SliceOfN(rapid.StringMatching(` {0,4}[a-z#:{\[é]{1,6}|`), 1, 8).Draw(t, "lines")
		header := rapid.SampledFrom([]string{"|", "|-", "|+", "|  # texts"}).Draw(t, "header")
		if strings.HasPrefix(strings.TrimLeft(strings.Join(inner, "\n"), "\n"), " ") {
			header = fmt.Sprintf("|%d", indent)
		}
		var b strings.Builder
		b.WriteString("a: 1" + eol + "text: " + header + eol)
		for _, line := range inner {
			if line != "" || rapid.Bool().Draw(t, "blanks") {
				line = strings.Repeat(" ", indent) + line
			}
			b.WriteString(line + eol)
		}
		b.WriteString("z: 1" + eol)
		file := &source.File{Name: "x", Text: []byte(b.String())}
		docs, err := syntax.ParseYAML(file)
		if err != nil {
			t.Skip() // the draw is not valid YAML
		}
		n := docs[0].Get("text")
		text := []byte(n.Text)
		if len(bytes.TrimSpace(text)) == 0 {
			return
		}
		lines := n.Lines(file.Text, text)
		if lines == nil {
			t.Fatalf("%q: no lines", file.Text)
		}
		for i := range text {
			if text[i] == '\n' {
				continue
			}
			if at := lines.Offset(i); file.Text[at] != text[i] {
				t.Fatalf("%q: byte %d %q is %q in the file", file.Text, i, text[i], file.Text[at])
			}
		}
		if end := lines.Offset(len(text)); end > bytes.Index(file.Text, []byte(eol+"z: 1")) {
			t.Fatalf("%q: the text ends at %d", file.Text, end)
		}
	})
}

// A text that aliases repeat a thousand times is not read a thousand times.
func TestAliasedTexts(t *testing.T) {
	for copies, bombed := range map[int]bool{3: false, 1000: true} {
		got := given(t, map[string]string{"a.yaml": fmt.Sprintf(`
apiVersion: v1
kind: List
one: &one {apiVersion: v1, kind: ConfigMap, metadata: {name: a, labels: {%s: ""}}, data: {a.yaml: "static_resources: {}#%s"}}
items: [%s]
`, Label, strings.Repeat("x", 50_000), strings.Repeat("*one, ", copies))})
		if told := strings.Contains(got, "an alias bomb?"); told != bombed {
			t.Errorf("%d copies: told %t", copies, told)
		}
		if n := strings.Count(got, "snapshot"); n > 60 {
			t.Errorf("%d copies: %d snapshots", copies, n)
		}
	}
}

// TestHostileObjects: reading an object neither fails nor panics, whatever is in it.
func TestHostileObjects(t *testing.T) {
	keys := []string{
		"spec", "configPatches", "applyTo", "patch", "operation", "value", "jsonPatches", "type", "name", "op", "path", "from", "jsonPath",
		"data", "stringData", "binaryData", "items", "metadata", "labels", Label, "typed_config", "@type", "connect_timeout",
	}
	words := []string{
		`"CLUSTER"`, `"HTTP_FILTER"`, `"ADD"`, `"MERGE"`, `"add"`, `"replace"`, `"/typed_dns_resolver_config"`, `"/filters/0/typed_config/x"`, `"//~1~"`, `""`, `"-"`,
		`"type.googleapis.com/envoy.config.cluster.v3.Cluster"`, `"type.googleapis.com/envoy.config.listener.v3.Listener"`, `null`, `true`, `5`, `"c3RhdGljX3Jlc291cmNlczogWw=="`,
	}
	var value func(depth int) *rapid.Generator[string]
	value = func(depth int) *rapid.Generator[string] {
		word := rapid.SampledFrom(words)
		if depth == 0 {
			return word
		}
		return rapid.Custom(func(t *rapid.T) string {
			inner := value(depth - 1)
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				return word.Draw(t, "word")
			case 1:
				return "[" + strings.Join(rapid.SliceOfN(inner, 0, 3).Draw(t, "items"), ",") + "]"
			}
			var entries []string
			for range rapid.IntRange(0, 4).Draw(t, "entries") {
				entries = append(entries, fmt.Sprintf("%q: %s", rapid.SampledFrom(keys).Draw(t, "key"), inner.Draw(t, "value")))
			}
			return "{" + strings.Join(entries, ",") + "}"
		})
	}
	heads := []string{
		`"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilter", "spec": {"configPatches": [{"applyTo": "CLUSTER", "patch": %s}, %s]}`,
		`"apiVersion": "gateway.envoyproxy.io/v1alpha1", "kind": "EnvoyPatchPolicy", "spec": {"jsonPatches": [{"type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", "name": "a", "operation": %s}, %s]}`,
		`"apiVersion": "v1", "kind": "Secret", "metadata": {"labels": {"xdslint.dev/check": "1"}}, "data": %s, "stringData": %s`,
		`"apiVersion": "v1", "kind": "List", "items": [%s, %s]`,
		`"apiVersion": "networking.istio.io/v1alpha3", "kind": "EnvoyFilterList", "items": [%s, %s]`,
	}
	rapid.Check(t, func(t *rapid.T) {
		text := "{" + fmt.Sprintf(rapid.SampledFrom(heads).Draw(t, "object"), value(4).Draw(t, "first"), value(4).Draw(t, "second")) + "}"
		in, err := Texts(context.Background(), map[string][]byte{"object.json": []byte(text)}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range in.Snapshots {
			for _, r := range s.Resources {
				if r.Kind == graph.Patch && (r.Object == nil || r.Within == nil) {
					t.Fatalf("%s: a patch that stands nowhere", text)
				}
			}
		}
	})
}

// TestUnlabelled: without a label, an object is read if a text in it is plainly xDS, and then what is not is left alone.
func TestUnlabelled(t *testing.T) {
	object := func(kind, data string) string {
		return "apiVersion: v1\nkind: " + kind + "\nmetadata: {name: o}\ndata:\n" + data
	}
	for _, c := range []struct{ kind, data, want string }{
		{"ConfigMap", "  a.yaml: 'static_resources: {clusters: [{name: c}]}'\n  b.yaml: 'admin: {port: 1}'\n", "bootstrap cluster"},
		{"ConfigMap", "  a.json: '{\"resources\": [{\"@type\": \"type.googleapis.com/envoy.config.cluster.v3.Cluster\", \"name\": \"c\"}]}'\n", "cluster"},
		{"ConfigMap", "  a.json: '{\"configs\": [{\"@type\": \"type.googleapis.com/envoy.admin.v3.ClustersConfigDump\"}]}'\n", "dump"},
		{"Secret", "  a.yaml: c3RhdGljX3Jlc291cmNlczoge30=\n", "bootstrap"},
		// Broken, and meant to be xDS.
		{"ConfigMap", "  a.yaml: 'static_resources: {clusters: [}'\n", "file"},
		{"ConfigMap", "  a.yaml: 'static_resources: {clusters: [{name: {{ .name }}}]}'\n", "file"},
		// Not xDS.
		{"ConfigMap", "  a.yaml: 'static_resources: 5'\n", ""},
		{"ConfigMap", "  a.yaml: 'tracing: {provider: {}}'\n", ""},
		{"ConfigMap", "  kustomization.yaml: 'resources: []'\n  note: 'about static_resources'\n", ""},
		{"ConfigMap", "  a.sh: 'echo static_resources: {clusters: [}'\n", ""},
		{"ConfigMap", "  a.yaml: 'text: about type.googleapis.com/envoy.config.cluster.v3.Cluster'\n", ""},
		{"ConfigMap", "  a.json: '{\"@type\": \"Person\", \"url\": \"https://x/static_resources\"}'\n", ""},
	} {
		in, err := Texts(context.Background(), map[string][]byte{"o.yaml": []byte(object(c.kind, c.data))}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, s := range in.Snapshots {
			for _, r := range s.Resources {
				kinds = append(kinds, string(r.Kind))
			}
		}
		got := strings.Join(kinds, " ")
		if got == "" && in.Files[0].As != "" {
			got = "dump"
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.data, got, c.want)
		}
	}
}

// TestUnlabelledTemplate: what a chart renders later is not a mistake in a folder.
func TestUnlabelledTemplate(t *testing.T) {
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: o}\ndata:\n  envoy.yaml: |\n    static_resources: {clusters: [{name: {{ .name }}}]}\n"
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "o.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, err := Paths(context.Background(), []string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Snapshots) != 0 || in.Files[0].As != "" {
		t.Errorf("%v", in.Files)
	}
}
