package rules_test

import (
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

// TestArchives runs all rules over the examples of each, and asks the real Envoys what they think of them: the one that an example is for, and the
// older ones.
func TestArchives(t *testing.T) {
	missing := envoytest.Missing(versions...)
	if missing != nil {
		t.Error(missing)
	}
	for _, a := range archives(t) {
		var judgements []judgement
		t.Run(a.rule, func(t *testing.T) {
			dir := t.TempDir()
			a.extract(t, dir)
			t.Chdir(dir) // names in reports are as the user gave them
			judgements = a.run(t)
		})
		if a.aboutGRPC() {
			t.Run(a.rule+"/grpc", func(t *testing.T) { a.askGRPC(t, judgements) })
			continue
		}
		if len(judgements) > 0 && missing == nil {
			t.Run(a.rule+"/envoy", func(t *testing.T) {
				t.Parallel()
				a.askEnvoy(t, judgements)
			})
		}
	}
}

// allRules are the rules, and those about suppressions.
func allRules() []*lint.Rule { return rules.All() }

// rules are those that run over the archive's examples: of those that need a profile, only its own.
func (a *archive) rules() []*lint.Rule {
	return slices.DeleteFunc(rules.Builtin(), func(r *lint.Rule) bool { return !r.RunsIn("") && r.ID() != a.rule })
}

// run lints the examples and compares what comes of it with the archive.
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
			continue // there is nothing to fix, and another test asks Envoy
		}
		judged := judgement{archive: a, example: example, target: a.flagsOf(example).target, snapshots: result.Snapshots, found: result.Diagnostics}
		all = append(all, judged)
		all = append(all, a.judgeOlder(t, example)...)
		if !slices.ContainsFunc(result.Diagnostics, func(d lint.Diagnostic) bool { return len(d.Fixes) > 0 }) {
			continue
		}
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

// without takes the skeletons off fixed texts.
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

// own is what the archive's own rule reports of an example: something of each bad one. Of a good one no rule says anything.
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
		t.Errorf("%s: the rule has nothing to say about it:\n%s", example, reported(t, result))
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
	input, err := load.Paths(t.Context(), []string{example}, load.Options{Assumptions: flags.assumptions, Texts: byPath, Root: flags.root})
	if err != nil {
		return nil, err
	}
	result := lint.Run(t.Context(), input.Snapshots, lint.Config{
		Rules: a.rules(), Target: flags.target, TargetGiven: flags.target.Plane != "", Profile: flags.profile, Clock: flags.clock,
	})
	fieldtest.Check(t, result.Diagnostics)
	suppress.Apply(result, suppress.Options{Ran: a.rules(), Known: allRules()})
	return result, nil
}

// TestEveryRuleIsComplete: a rule has its texts, a file that is built everywhere, and an archive.
func TestEveryRuleIsComplete(t *testing.T) {
	examples := map[string]bool{}
	for _, a := range archives(t) {
		examples[a.rule] = true
		if a.text.Files[0].Name != "why.md" {
			t.Errorf("%s: why.md comes first", a.rule)
		}
	}
	for _, r := range rules.Builtin() {
		why := explain.Why(r)
		if r.Summary == "" || r.Severity == lint.Off && r.Profiles == nil {
			t.Errorf("%s lacks Summary or Severity", r.ID())
		}
		if r.Family == "" && r.Group != "schema" { // a text that is wrong is wrong for all
			t.Errorf("%s: say in the group which data planes it knows", r.ID())
		}
		if why == "" || r.Why != "" {
			t.Errorf("%s: say why it matters in why.md, the first section of its archive, and only there", r.ID())
		}
		if strings.Contains(r.Summary+why, "TODO") {
			t.Errorf("%s: Summary or why.md is not written yet", r.ID())
		}
		file := filepath.Join("internal", r.Group, strings.ReplaceAll(r.Name, "-", "_")+".go")
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: a rule stands in a file of its own name: %v", r.ID(), err)
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
		t.Errorf("%s has an archive and is no rule", id)
	}
}

// TestFilesAreBuilt: Go leaves out x_test.go, x_linux.go, x_wasm.go … without a word.
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
			if stem := strings.TrimSuffix(filepath.Base(file), "_test.go"); slices.ContainsFunc(rules.Builtin(), func(r *lint.Rule) bool {
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
