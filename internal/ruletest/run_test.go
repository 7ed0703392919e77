package ruletest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/ruletest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// shop is a folder with one rule: a cluster must not be named test. The rule panics at a cluster named crash, and cannot judge one named unable.
type shop struct {
	dir   string
	rules []*lint.Rule
}

func newShop(t *testing.T, archives map[string]string) *shop {
	t.Helper()
	dir := t.TempDir()
	for name, text := range archives {
		path := filepath.Join(dir, "testdata", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	origin := &lint.Origin{Name: "plugin rules.wasm", File: &source.File{Name: filepath.Join(dir, "rules.wasm")}}
	check := lint.ForOrigin(func() lint.Judge { return judge })
	return &shop{dir, []*lint.Rule{{Group: "acme", Name: "no-test", Severity: lint.Error, Summary: "s", Origin: origin, Run: check}}}
}

func judge(_ context.Context, passes []*lint.Pass) *lint.EvalError {
	p := passes[0]
	for _, r := range p.Snapshot.All(graph.Cluster) {
		switch at := r.AtName(); r.Name {
		case "test":
			p.Report(at, lint.Diagnostic{Message: "a test is in production", Help: "name it prod", Fixes: lint.Replace(at, "prod").Likely("name it prod")})
		case "unable":
			return &lint.EvalError{Message: "crashed: out of luck", Notes: []string{"twice"}}
		case "crash":
			panic("oops")
		case "old":
			if p.Target.Before("1.39") {
				p.Reportf(at, "an old Envoy")
			}
		}
	}
	return nil
}

func (s *shop) run(t *testing.T, update bool) *ruletest.Result {
	t.Helper()
	result, err := ruletest.Run(t.Context(), s.rules, ruletest.Options{Update: update})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

const (
	bad    = "-- bad.yaml --\nstatic_resources: {clusters: [{name: test}]}\n"
	good   = "-- good.yaml --\nstatic_resources: {clusters: [{name: prod}]}\n"
	report = `error[acme/no-test]: a test is in production
 --> bad.yaml:1:38
  |
1 | static_resources: {clusters: [{name: test}]}
  |                                      ^^^^
  = in: cluster "test" › name
help: name it prod
`
	want  = "-- want --\n" + report
	fixed = "-- fixed/bad.yaml --\nstatic_resources: {clusters: [{name: prod}]}\n"
)

func cluster(name string) string { return "\nstatic_resources: {clusters: [{name: " + name + "}]}\n" }

func TestPasses(t *testing.T) {
	for name, text := range map[string]string{
		"plain":   bad + good + want + fixed,
		"folders": strings.NewReplacer("-- bad.yaml", "-- bad/envoy.yaml", "--> bad.yaml", "--> bad/envoy.yaml").Replace(bad + good + want + fixed[:len("-- fixed/")] + "bad/envoy.yaml --" + cluster("prod")),
		"targets": bad + good + "-- good2.yaml --" + cluster("old") + "-- flags --\ngood.yaml: target envoy:1.38\ngood2.yaml: target envoy:1.40\n" + want + fixed,
		"comment": "What it is about.\n" + bad + good + want + fixed,
		"envoy":   bad + good + "-- envoy --\nbad.yaml: push\n" + want + fixed,
	} {
		t.Run(name, func(t *testing.T) {
			result := newShop(t, map[string]string{"acme/no-test.txtar": text}).run(t, false)
			if len(result.Faults)+len(result.Untested) > 0 || result.Archives != 1 || result.Examples < 2 {
				t.Errorf("%+v", result)
			}
		})
	}
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no bad":          {good + want, "there is no example such as bad.yaml, with findings"},
		"no good":         {bad + want, "there is no example such as good.yaml, without findings"},
		"silent":          {bad + good + "-- bad2.yaml --" + cluster("prod") + want, "bad2.yaml: the rule finds nothing"},
		"loud":            {bad + "-- good.yaml --" + cluster("test") + want, "good.yaml: the rule should find nothing, but it finds:\n\n" + strings.Replace(report, "bad.yaml", "good.yaml", 1)},
		"no example":      {bad + good + "-- worse.yaml --\n" + want, "worse.yaml: the name of an example must begin with bad or good"},
		"outside":         {bad + good + "-- good/../../x --\n" + want, `"good/../../x" is not a valid file name`},
		"twice":           {bad + good + good + want, "duplicate file good.yaml"},
		"misspelt field":  {bad + "-- good.yaml --\nstatic_resources: {clusters: [{nme: prod}]}\n" + want, `good.yaml:1:32: envoy.config.cluster.v3.Cluster has no field "nme"`},
		"no xDS":          {bad + "-- good.yaml --\n[1, 2]\n" + want, `good.yaml:1:1: this is not xDS: it is not a bootstrap, discovery response, config_dump or resource with an "@type"`},
		"unknown flag":    {bad + good + "-- flags --\nhope cluster\n" + want, `flags: "hope cluster" is not one of assume KIND:GLOB, open KIND, closed KIND, target PLANE:VERSION`},
		"unknown kind":    {bad + good + "-- flags --\nopen clustr\n" + want, `flags: open: no kind is named "clustr" (did you mean "cluster"?)`},
		"unknown target":  {bad + good + "-- flags --\ntarget envoy:0.9\n" + want, `flags: unknown target "envoy:0.9"`},
		"several targets": {bad + good + "-- flags --\ntarget envoy:1.39\ntarget envoy:1.40\n" + want, "flags: an example can have only one target"},
		"push":            {bad + good + "-- flags --\npush ads per-type\n" + want, "flags: push is only for built-in rules"},
		"cannot judge":    {bad + "-- good.yaml --" + cluster("unable") + want, "good.yaml: plugin rules.wasm crashed: out of luck; twice"},
		"no want":         {bad + good + fixed, "want is missing"},
		"no fixed":        {bad + good + want, "fixed/bad.yaml differs from the fixed example"},
		"other fixed":     {bad + good + want + "-- fixed/bad2.yaml --\n" + fixed, "fixed/bad2.yaml differs from the fixed example"},
		"other want":      {bad + good + want + "more\n" + fixed, "want differs from the findings"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newShop(t, map[string]string{"acme/no-test.txtar": c.text})
			faults := s.run(t, false).Faults
			if len(faults) != 1 {
				t.Fatalf("%+v", faults)
			}
			if got := faults[0].Message; got != c.want && !strings.HasPrefix(got, c.want+" (known: ") {
				t.Error(cmp.Diff(c.want, got))
			}
			if path := filepath.Join(s.dir, "testdata", "acme", "no-test.txtar"); faults[0].Path != path {
				t.Errorf("the fault is in %s, not in %s", faults[0].Path, path)
			}
		})
	}
}

// TestUpdate: an updated archive passes, and nothing else in it changes.
func TestUpdate(t *testing.T) {
	s := newShop(t, map[string]string{"acme/no-test.txtar": "About it.\n" + bad + good + "-- want --\nold\n-- fixed/bad9.yaml --\nold\n"})
	path := filepath.Join(s.dir, "testdata", "acme", "no-test.txtar")
	if result := s.run(t, true); len(result.Faults) > 0 || !cmp.Equal(result.Updated, []string{path}) {
		t.Errorf("%+v", result)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("About it.\n"+bad+good+want+fixed, string(text)); diff != "" {
		t.Error(diff)
	}
	if result := s.run(t, true); len(result.Updated)+len(result.Faults) > 0 {
		t.Errorf("%+v", result)
	}
}

// TestUpdateKeeps: an archive with a wrong example is not updated.
func TestUpdateKeeps(t *testing.T) {
	text := bad + "-- good.yaml --" + cluster("unable") + want
	s := newShop(t, map[string]string{"acme/no-test.txtar": text})
	if result := s.run(t, true); len(result.Faults) != 1 || len(result.Updated) > 0 {
		t.Errorf("%+v", result)
	}
}

func TestStrangers(t *testing.T) {
	s := newShop(t, map[string]string{"acme/no-tests.txtar": bad, "deep/er/no-test.txtar": bad, "README.md": "not an archive"})
	result := s.run(t, false)
	var messages []string
	for _, f := range result.Faults {
		messages = append(messages, f.Message)
	}
	if diff := cmp.Diff([]string{`rule "acme/no-tests" does not exist here (did you mean "acme/no-test"?)`, `rule "deep/er/no-test" does not exist here (did you mean "acme/no-test"?)`}, messages); diff != "" {
		t.Error(diff)
	}
	if len(result.Untested) != 1 || result.Untested[0] != s.rules[0] {
		t.Errorf("untested: %v", result.Untested)
	}
	if nothing := newShop(t, nil).run(t, false); len(nothing.Untested) != 1 || len(nothing.Faults) > 0 {
		t.Errorf("without a folder: %+v", nothing)
	}
}

// TestErrors: a panic and an interruption are not faults of the archive.
func TestErrors(t *testing.T) {
	s := newShop(t, map[string]string{"acme/no-test.txtar": bad + "-- good.yaml --" + cluster("crash")})
	_, err := ruletest.Run(t.Context(), s.rules, ruletest.Options{Update: true})
	if failure, ok := errors.AsType[*lint.Failure](err); !ok || failure.Panic != "oops" {
		t.Errorf("a panic: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s = newShop(t, map[string]string{"acme/no-test.txtar": bad + good})
	if _, err := ruletest.Run(ctx, s.rules, ruletest.Options{Update: true}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}

// TestTypes: an example is decoded with custom types if they are given; otherwise a mistake in them is not found.
func TestTypes(t *testing.T) {
	raw, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
		Name: proto.String("acme/quota.proto"), Package: proto.String("acme"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Quota"), Field: []*descriptorpb.FieldDescriptorProto{{
			Name: proto.String("limit"), Number: proto.Int32(1),
			Label: descriptorpb.FieldDescriptorProto_LABEL_OPTIONAL.Enum(), Type: descriptorpb.FieldDescriptorProto_TYPE_UINT32.Enum(),
		}}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	types, err := load.Descriptors(raw)
	if err != nil {
		t.Fatal(err)
	}
	own := func(field string) *shop {
		metadata := "metadata: {typed_filter_metadata: {acme: {\"@type\": type.googleapis.com/acme.Quota, " + field + ": 1}}}"
		return newShop(t, map[string]string{"acme/no-test.txtar": bad + "-- good.yaml --\nstatic_resources: {clusters: [{" + metadata + "}]}\n" + want + fixed})
	}
	for _, c := range []struct {
		field string
		types decode.Types
		want  int
	}{{"limit", types, 0}, {"limt", types, 1}, {"limt", nil, 0}} {
		result, err := ruletest.Run(t.Context(), own(c.field).rules, ruletest.Options{Types: c.types})
		if err != nil || len(result.Faults) != c.want {
			t.Errorf("%s: %v %+v", c.field, err, result)
		}
	}
}
