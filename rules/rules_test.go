package rules_test

import (
	"errors"
	"flag"
	"fmt"
	"go/build"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/fieldtest"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

var update = flag.Bool("update", false, "write what the rules now report into the archives")

// TestArchives runs all rules over the examples of each, and compares the findings with the verdict of the real Envoy.
func TestArchives(t *testing.T) {
	var judgements []judgement
	for _, a := range archives(t) {
		t.Run(a.rule, func(t *testing.T) {
			dir := t.TempDir()
			a.extract(t, dir)
			t.Chdir(dir) // names in reports are as the user gave them
			judgements = append(judgements, a.run(t)...)
		})
	}
	if !*update {
		t.Run("envoy", func(t *testing.T) { askEnvoy(t, judgements) })
	}
}

// allRules returns all rules, including those about suppressions.
func allRules() []*lint.Rule { return rules.Known() }

// run lints the examples and compares the results with the archive.
func (a *archive) run(t *testing.T) []judgement {
	var all []judgement
	var want []string // a report for each bad example
	var also strings.Builder
	fixed := map[string][]byte{}
	for _, example := range a.examples {
		result := a.judge(t, example)
		for _, failure := range result.Failures {
			t.Errorf("%s: %v\n%s", example, failure, failure.Stack)
		}
		if own := a.own(t, example, result); own != "" {
			want = append(want, own)
		}
		for i := range result.Diagnostics {
			if d := &result.Diagnostics[i]; d.Rule.ID() != a.rule {
				fmt.Fprintf(&also, "%s: %s: %s\n", example, d.Rule.ID(), d.Message)
			}
		}
		if a.between() {
			continue // a push has nothing to fix, and another test asks Envoy
		}
		judged := judgement{archive: a, example: example, target: a.flagsOf(example).target, snapshots: result.Snapshots, found: result.Diagnostics}
		all = append(all, judged)
		if outcome := a.fix(t, example); outcome != nil {
			maps.Copy(fixed, a.without(t, outcome.After))
			judged.texts, judged.snapshots, judged.found = outcome.After, outcome.Result.Snapshots, outcome.Result.Diagnostics
			all = append(all, judged)
		}
	}
	got := []txtar.File{{Name: "want", Data: []byte(strings.Join(want, "\n"))}}
	if also.Len() > 0 {
		got = append(got, txtar.File{Name: "also", Data: []byte(also.String())})
	}
	for _, name := range slices.Sorted(maps.Keys(fixed)) {
		got = append(got, txtar.File{Name: "fixed/" + name, Data: fixed[name]})
	}
	if *update {
		a.update(t, got)
	} else {
		a.compare(t, got)
	}
	return all
}

// without removes the skeletons from fixed texts.
func (a *archive) without(t *testing.T, whole map[string][]byte) map[string][]byte {
	all := maps.Clone(whole)
	for _, f := range a.files() {
		if text, fixed := whole[f.Name]; fixed {
			inner, err := f.Fixed(string(text))
			if err != nil {
				t.Error(err)
			}
			all[f.Name] = []byte(inner)
		}
	}
	return all
}

// own returns what the archive's own rule reports of an example. It must report each bad one, and no rule a good one.
func (a *archive) own(t *testing.T, example string, result *lint.Result) string {
	t.Helper()
	if !strings.HasPrefix(example, "bad") {
		if len(result.Diagnostics) > 0 {
			t.Errorf("%s is not silent:\n%s", example, reported(t, result))
		}
		return ""
	}
	own := *result
	own.Diagnostics = slices.DeleteFunc(slices.Clone(result.Diagnostics), func(d lint.Diagnostic) bool { return d.Rule.ID() != a.rule })
	if len(own.Diagnostics) == 0 {
		t.Errorf("%s: the rule does not report it:\n%s", example, reported(t, result))
	}
	shown, err := explain.Shown(&own, a.files())
	if err != nil {
		t.Error(err)
		return ""
	}
	return reported(t, shown)
}

func reported(t *testing.T, result *lint.Result) string {
	t.Helper()
	var text strings.Builder
	if err := report.Text(&text, result, report.TextOptions{}); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// judge runs the rules over an example.
func (a *archive) judge(t *testing.T, example string) *lint.Result {
	if a.between() {
		return a.lintPush(t, example)
	}
	result, err := a.lint(t, example, nil)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// lint runs all rules over an example, some of its files with another text.
func (a *archive) lint(t *testing.T, example string, texts map[string][]byte) (*lint.Result, error) {
	flags, byPath := a.flagsOf(example), map[string][]byte{}
	for name, text := range texts {
		byPath[load.RealPath(name)] = text
	}
	input, err := load.Paths(t.Context(), []string{example}, load.Options{Assumptions: flags.assumptions, Texts: byPath})
	if err != nil {
		return nil, err
	}
	result := lint.Run(t.Context(), input.Snapshots, lint.Config{
		Rules: rules.All(), Target: flags.target, TargetGiven: flags.target.Plane != "",
	})
	fieldtest.Check(t, result.Diagnostics)
	suppress.Apply(result, suppress.Options{Ran: rules.All(), Known: allRules()})
	return result, nil
}

// judgement holds what the rules report of an example; Envoy must agree with what they report as rejected.
type judgement struct {
	archive   *archive
	example   string
	target    dataplane.Target
	texts     map[string][]byte // fixed ones
	snapshots []*graph.Snapshot
	found     []lint.Diagnostic
}

func askEnvoy(t *testing.T, judgements []judgement) {
	for _, j := range judgements {
		why := j.archive.envoy[j.example]
		name := j.archive.rule + "/" + j.example
		if j.texts != nil {
			name += "/fixed"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			switch why {
			case "", "crash":
				j.validate(t, why == "crash")
			case "push":
				j.push(t)
			}
		})
	}
}

// envoy returns the version for which the example is judged.
func (j judgement) envoy() envoytest.Version {
	return envoytest.Version(j.target.Version)
}

// validate asks Envoy about the bootstrap of an example. Envoy does not open the files that it names.
func (j judgement) validate(t *testing.T, crash bool) {
	dir := t.TempDir()
	j.archive.extract(t, dir)
	for name, text := range j.texts {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bootstrap := j.bootstrap()
	if bootstrap == "" {
		t.Fatalf("%s has no bootstrap: say \"%s: push\" in the file envoy", j.example, j.example)
	}
	verdict, err := j.envoy().Validate(t.Context(), filepath.Join(dir, bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	booted := slices.DeleteFunc(slices.Clone(j.found), func(d lint.Diagnostic) bool { return d.Resource.File.Name != bootstrap })
	rejected := rejections(booted)
	want := envoytest.Accept
	switch {
	case crash:
		want = envoytest.Crash
	case len(rejected) > 0:
		want = envoytest.Reject
	}
	if want == envoytest.Reject && verdict.Outcome == envoytest.Accept && j.rejectedAtStart(t, filepath.Join(dir, bootstrap)) {
		return
	}
	if verdict.Outcome != want {
		t.Errorf("envoy says %s; the rules say %s: %s", verdict, want, strings.Join(rejected, "; "))
	}
}

// rejectedAtStart starts an older Envoy: its validate mode does not check what needs its runtime, which the server rejects.
func (j judgement) rejectedAtStart(t *testing.T, path string) bool {
	if j.envoy() == envoytest.Newest {
		return false
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	server, err := j.envoy().Serve(t.Context(), string(text), filepath.Ext(path))
	if err == nil {
		server.Close()
	}
	return errors.Is(err, envoytest.ErrEnded)
}

// bootstrap returns the file that Envoy starts with. A file that cannot be read is used as one too.
func (j judgement) bootstrap() (name string) {
	for _, s := range j.snapshots {
		for _, r := range s.Resources {
			switch r.Kind {
			case graph.Bootstrap:
				return r.File.Name
			case graph.File:
				name = r.File.Name
			}
		}
	}
	return name
}

// push sends loose resources over ADS.
func (j judgement) push(t *testing.T) {
	var messages []proto.Message
	for _, s := range j.snapshots {
		for _, r := range s.Resources {
			messages = append(messages, r.Message)
		}
	}
	resources, err := envoytest.Pack(messages...)
	if err != nil {
		t.Fatal(err)
	}
	result, err := j.envoy().Push(t.Context(), resources)
	if err != nil {
		t.Fatal(err)
	}
	rejected := rejections(j.found)
	if rejects := result.Nack() != "" || result.Crashed; rejects != (len(rejected) > 0) {
		t.Errorf("envoy says %q (crashed: %t); the rules say: %s", result.Nack(), result.Crashed, strings.Join(rejected, "; "))
	}
}

// TestEveryRuleIsComplete checks that a rule has its texts, a file that is built everywhere, and an archive.
func TestEveryRuleIsComplete(t *testing.T) {
	examples := map[string]bool{}
	for _, a := range archives(t) {
		examples[a.rule] = true
		if a.text.Files[0].Name != "why.md" {
			t.Errorf("%s: why.md comes first", a.rule)
		}
	}
	for _, r := range rules.All() {
		why := explain.Why(r)
		if r.Summary == "" || r.Severity == 0 {
			t.Errorf("%s lacks Summary or Severity", r.ID())
		}
		if why == "" || r.Why != "" {
			t.Errorf("%s: say why it matters in why.md, the first section of its archive, and only there", r.ID())
		}
		if strings.Contains(r.Summary+why, "TODO") {
			t.Errorf("%s: Summary or why.md is not written yet", r.ID())
		}
		file := filepath.Join("internal", r.Group, strings.ReplaceAll(r.Name, "-", "_")+".go")
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: the file of a rule must have its name: %v", r.ID(), err)
		}
		if !examples[r.ID()] {
			t.Errorf("%s has no archive under testdata/rules", r.ID())
		}
		delete(examples, r.ID())
	}
	for _, g := range rules.Meta {
		for _, r := range g.Rules() {
			if explain.Why(r) == "" {
				t.Errorf("%s does not say why it matters", r.ID())
			}
			delete(examples, r.ID())
		}
	}
	for id := range examples {
		t.Errorf("%s has an archive, but is not a rule", id)
	}
}

// TestFilesAreBuilt checks the names of rules: Go silently leaves out x_test.go, x_linux.go, x_wasm.go …
func TestFilesAreBuilt(t *testing.T) {
	files, err := filepath.Glob("internal/*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	nowhere := build.Default
	nowhere.GOOS, nowhere.GOARCH = "none", "none"
	nowhere.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("package p\n")), nil }
	for _, file := range files {
		if _, isTest := strings.CutSuffix(file, "_test.go"); isTest {
			if stem := strings.TrimSuffix(filepath.Base(file), "_test.go"); slices.ContainsFunc(rules.All(), func(r *lint.Rule) bool {
				return strings.ReplaceAll(r.Name, "-", "_") == stem+"_test"
			}) {
				t.Errorf("%s is taken for a test", file)
			}
			continue
		}
		if ok, err := nowhere.MatchFile(filepath.Split(file)); !ok || err != nil {
			t.Errorf("%s is not built on every machine", file)
		}
	}
}
