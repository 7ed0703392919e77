package plugin_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/fix"
	"github.com/xdslint/xdslint/internal/pluginabi"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/wasm/plugin"
)

// answering opens a plugin that has these findings in whatever it is asked about.
func answering(t testing.TB, findings ...*pluginabi.Finding) *plugin.Plugin {
	t.Helper()
	p, err := open(t, guest{answer: marshal(&pluginabi.Findings{Findings: findings})}.module(), plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func textOf(t *testing.T, result *lint.Result) string {
	t.Helper()
	var b strings.Builder
	if err := report.Text(&b, result, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func set(path, value string) *pluginabi.Edit {
	return &pluginabi.Edit{Path: path, Change: &pluginabi.Edit_Set{Set: value}}
}

func remove(path string) *pluginabi.Edit {
	return &pluginabi.Edit{Path: path, Change: &pluginabi.Edit_Remove{Remove: true}}
}

// TestFindings: a field that is there, one that is absent, the resource as a whole, a key, the inside of a Struct, and texts that are cleaned.
func TestFindings(t *testing.T) {
	p := answering(
		t,
		&pluginabi.Finding{Rule: "acme/one", Resource: 1, Path: "name", Message: "this\n is \x1b[31mred\u202e", Notes: []string{"a\tnote"}, Help: "  help\r\n"},
		&pluginabi.Finding{Rule: "acme/two", Resource: 1, Path: "circuit_breakers.thresholds", Message: "absent"},
		&pluginabi.Finding{Rule: "acme/two", Resource: 1, Path: `metadata.filter_metadata["acme"].fields["tier"]`, Message: "in a Struct", Severity: pluginabi.Severity_SEVERITY_WARNING},
		&pluginabi.Finding{Rule: "acme/one", Resource: 2, Message: strings.Repeat("é", 1001)},
	)
	got := textOf(t, lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: p.Rules()}))
	want := `info[acme/two]: absent
 --> envoy.yaml:3:5
  |
3 |   - name: shop-cart
  |     ^^^^^^^^^^^^^^^
  = in: cluster "shop-cart" › circuit_breakers.thresholds

error[acme/one]: this is [31mred
 --> envoy.yaml:3:11
  |
3 |   - name: shop-cart
  |           ^^^^^^^^^
  = in: cluster "shop-cart" › name
  = a note
help: help

warning[acme/two]: in a Struct
 --> envoy.yaml:6:34
  |
6 |     metadata: {filter_metadata: {acme: {tier: gold}}}
  |                                  ^^^^
  = in: cluster "shop-cart" › metadata.filter_metadata["acme"].fields["tier"]

error[acme/one]: ` + strings.Repeat("é", 500) + `…
  --> envoy.yaml:10:5
   |
10 |   - {name: shop-search, type: STATIC, connect_timeout: 1s}
   |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
   = in: cluster "shop-search"
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A rule that does not run has no findings, whatever the plugin says.
func TestARuleThatIsOff(t *testing.T) {
	p := answering(t, &pluginabi.Finding{Rule: "acme/one", Message: "one"}, &pluginabi.Finding{Rule: "acme/two", Message: "two"})
	result := lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: p.Rules()[1:]})
	if got := reported(result.Diagnostics); !slices.Equal(got, []string{"envoy.yaml info[acme/two]: two"}) {
		t.Error(got)
	}
}

func TestFixes(t *testing.T) {
	one := func(safe bool, edits ...*pluginabi.Edit) *pluginabi.Finding {
		return &pluginabi.Finding{Rule: "acme/one", Resource: 1, Message: "wrong", Fixes: []*pluginabi.Fix{{Message: "fix it", Safe: safe, Edits: edits}}}
	}
	for _, c := range []struct {
		name    string
		finding *pluginabi.Finding
		want    string // the lines that change; empty: there is no fix
	}{
		{"a scalar", one(true, set("connect_timeout", `"2s"`)), "    connect_timeout: 2s\n"},
		{"several at once", one(true, set("connect_timeout", `"2s"`), set("name", `"a b: c"`)), "  - name: \"a b: c\"\n    connect_timeout: 2s\n"},
		{"a new field", one(true, set("per_connection_buffer_limit_bytes", "32768")), "    per_connection_buffer_limit_bytes: 32768\n"},
		{"a new message", one(true, set("outlier_detection", `{"consecutive_5xx": 3, "interval": "5s"}`)), "    outlier_detection:\n      consecutive_5xx: 3\n      interval: 5s\n"},
		{"a new entry", one(true, set(`metadata.filter_metadata["team"]`, `{"name": "cart"}`)), "    metadata: {filter_metadata: {acme: {tier: gold}, team: {name: cart}}}\n"},
		{"removal", one(true, remove("metadata")), ""},
		{"what cannot be inserted", one(true, set("circuit_breakers.thresholds", `{"a": 1}`)), "no fix"},
		{"a message in place of another", one(true, set("metadata", `{"a": 1}`)), "no fix"},
		{"one of two cannot be", one(true, set("connect_timeout", `"2s"`), set("metadata", `{"a": 1}`)), "no fix"},
		{"no edits", one(true), "no fix"},
		{"two new fields", one(true, set("alt_stat_name", `"a"`), set("lb_policy", `"RANDOM"`)), "    alt_stat_name: a\n    lb_policy: RANDOM\n"},
		{"one field twice", one(true, set("connect_timeout", `"2s"`), set("connect_timeout", `"3s"`)), "no fix"},
		{"what is removed around it", one(true, remove("metadata"), set(`metadata.filter_metadata["team"]`, `"a"`)), "no fix"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := answering(t, c.finding)
			result := lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: p.Rules()})
			if len(result.Diagnostics) != 1 {
				t.Fatal(reported(result.Diagnostics))
			}
			fixes := result.Diagnostics[0].Fixes
			if c.want == "no fix" {
				if len(fixes) > 0 {
					t.Error(fixes)
				}
				return
			}
			if len(fixes) != 1 || !fixes[0].Safe || fixes[0].Message != "fix it" {
				t.Fatalf("got %+v", fixes)
			}
			fixed, _ := fix.Apply([]byte(bootstrap), result.Diagnostics, false)
			if diff := cmp.Diff(c.want, changed(string(fixed))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// changed are the lines that the bootstrap does not have.
func changed(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.Contains(bootstrap, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

// In a Kubernetes Secret any text may be a secret: of a finding there, only what the rule said beforehand is left, and of a fault nothing.
func TestNothingOfASecretIsSaid(t *testing.T) {
	const manifest = `apiVersion: v1
kind: Secret
metadata: {name: envoy, labels: {xdslint.dev/check: "true"}}
stringData:
  envoy.yaml: |
    static_resources:
      clusters: [{name: hunter2, type: STATIC, connect_timeout: 1s}]
`
	for want, finding := range map[string]*pluginabi.Finding{
		"the first rule": {Rule: "acme/one", Message: "the cluster is hunter2", Notes: []string{"hunter2"}, Help: "hunter2"},
		"plugin rules.wasm cannot judge the content of a Kubernetes Secret; the reason is withheld, since it may quote the Secret": {Rule: "acme/one", Message: "wrong", Path: "hunter2"},
	} {
		result := lint.Run(t.Context(), snapshots(t, manifest), lint.Config{Rules: answering(t, finding).Rules()})
		if len(result.Diagnostics) == 0 {
			t.Fatal("there should be a finding")
		}
		for _, d := range result.Diagnostics {
			if all := d.Message + strings.Join(d.Notes, "") + d.Help; all != want || len(d.Fixes) > 0 {
				t.Errorf("got %q, %v", all, d.Fixes)
			}
		}
	}
}

// Concurrent runs do not affect each other, and find the same.
func TestAtOnce(t *testing.T) {
	p := answering(t, &pluginabi.Finding{Rule: "acme/one", Resource: 1, Path: "name", Message: "wrong"})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			result := lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: p.Rules()})
			if got := reported(result.Diagnostics); !slices.Equal(got, []string{"envoy.yaml error[acme/one]: wrong"}) {
				t.Error(got)
			}
		})
	}
	wait.Wait()
}

// A plugin cannot keep anything from one call to the next: this one would answer only the first time.
func TestNoMemoryOfEarlierCalls(t *testing.T) {
	// if the word at dataAt is 0, write 1 there and answer; else crash
	check := join(i32(dataAt), []byte{0x28, 2, 0, 0x04, 0x40}, unreachable, []byte{0x0b}, i32(dataAt), i32(1), []byte{0x36, 2, 0}, zero64)
	p, err := open(t, guest{check: check}.module(), plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if result := lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: p.Rules()}); len(result.Diagnostics) > 0 {
			t.Error(reported(result.Diagnostics))
		}
	}
}

// An interrupted run is not a fault of the plugin.
func TestARunThatEnds(t *testing.T) {
	p, err := open(t, guest{check: join(endless, zero64)}.module(), plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), short/10)
	defer cancel()
	if result := lint.Run(ctx, snapshots(t, bootstrap), lint.Config{Rules: p.Rules()}); len(result.Diagnostics) > 0 {
		t.Error(reported(result.Diagnostics))
	}
	cancel()
	_, err = plugin.Open(ctx, &source.File{Name: "rules.wasm", Text: guest{}.module()}, plugin.Options{})
	if err == nil || !strings.Contains(err.Error(), "context") {
		t.Error(err)
	}
}

// The cache is used, and lint works without one that is corrupt or not a folder.
func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	module := guest{answer: marshal(&pluginabi.Findings{Findings: []*pluginabi.Finding{{Rule: "acme/one", Message: "wrong"}}})}.module()
	judge := func() {
		t.Helper()
		p, err := open(t, module, plugin.Options{Cache: dir})
		if err != nil {
			t.Fatal(err)
		}
		if got := reported(lint.Run(t.Context(), snapshots(t, bootstrap), lint.Config{Rules: p.Rules()}).Diagnostics); len(got) != 1 {
			t.Error(got)
		}
	}
	judge()
	compiled, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(compiled) == 0 {
		t.Fatalf("nothing is in the cache: %v", err)
	}
	judge()
	for _, file := range compiled {
		if err := os.WriteFile(file, []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	judge()
	dir = compiled[0] // a file
	judge()
}

// A plugin whose memory cannot hold what it would have to read is not started.
func TestTooMuchToRead(t *testing.T) {
	const page = 64 << 10
	p, err := open(t, guest{pages: 1}.module(), plugin.Options{Memory: page})
	if err != nil {
		t.Fatal(err)
	}
	result := lint.Run(t.Context(), snapshots(t, "static_resources: {clusters: [{name: "+strings.Repeat("x", page)+"}]}"), lint.Config{Rules: p.Rules()})
	want := "house/rules.wasm error[house/cannot-judge]: plugin rules.wasm cannot read so much: the messages take "
	if got := reported(result.Diagnostics); len(got) != 1 || !strings.HasPrefix(got[0], want) {
		t.Error(got)
	}
}

// Parts of messages are separate, and are not passed to plugins.
func TestFragmentsAreNotJudged(t *testing.T) {
	p := answering(t, &pluginabi.Finding{Rule: "acme/one", Message: "wrong"})
	const filter = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: timeouts}
spec:
  configPatches:
  - applyTo: CLUSTER
    patch: {operation: MERGE, value: {connect_timeout: 1s}}
`
	all := snapshots(t, filter)
	if !slices.ContainsFunc(all, func(s *graph.Snapshot) bool { return len(s.Resources) > 0 }) {
		t.Fatal("there is nothing to judge")
	}
	for _, d := range lint.Run(t.Context(), all, lint.Config{Rules: p.Rules()}).Diagnostics {
		if d.Rule.ID() == "acme/one" {
			t.Error(d.Message)
		}
	}
}

func TestDescription(t *testing.T) {
	p, err := open(t, guest{description: marshal(&pluginabi.Description{Rules: []*pluginabi.Rule{{
		Id: "acme/one", Summary: "two\nlines\x07", Why: "# Why\n\n\x1b[2Jbecause", Links: []string{"https://acme.example/\x00guide"}, Severity: pluginabi.Severity_SEVERITY_WARNING,
	}}})}.module(), plugin.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := p.Rules()[0]
	if r.Summary != "two lines" || r.Why != "# Why\n\n[2Jbecause" || r.Links[0] != "https://acme.example/guide" || r.Severity != lint.Warning || r.ID() != "acme/one" ||
		r.Origin.Name != "plugin rules.wasm" || r.Origin.File.Name != "house/rules.wasm" {
		t.Errorf("got %+v", r)
	}
	if bytes.Contains([]byte(r.Summary+r.Why), []byte{0x1b}) {
		t.Error("a terminal would obey")
	}
}

// A plugin can read messages of the user's own extensions.
func TestOwnTypes(t *testing.T) {
	file, err := protodesc.NewFile(&descriptorpb.FileDescriptorProto{
		Name: proto.String("acme/limits.proto"), Package: proto.String("acme"), MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Limits")}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	own := &protoregistry.Types{}
	if err := own.RegisterMessage(dynamicpb.NewMessageType(file.Messages().Get(0))); err != nil {
		t.Fatal(err)
	}
	module := guest{description: marshal(&pluginabi.Description{Rules: []*pluginabi.Rule{{Id: "acme/one", Summary: "one"}}, Types: []string{"acme.Limits"}})}.module()
	if _, err := open(t, module, plugin.Options{Types: own}); err != nil {
		t.Error(err)
	}
	if _, err := open(t, module, plugin.Options{}); err == nil {
		t.Error("acme.Limits is not known")
	}
}
