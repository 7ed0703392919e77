package rules_test

import (
	"flag"
	"go/build"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/report"
	"github.com/xdslint/xdslint/lint/suppress"
	"github.com/xdslint/xdslint/rules"
)

var update = flag.Bool("update", false, "write what the rules now report into the archives")

// TestArchives runs all rules over the examples of each, and asks the real Envoy what it thinks of them.
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

// allRules are the rules, and those about suppressions.
func allRules() []*lint.Rule { return append(rules.All(), suppress.Rules.Rules()...) }

// run lints the examples and compares them with want.
func (a *archive) run(t *testing.T) []judgement {
	var all []judgement
	var text strings.Builder
	for _, example := range a.examples {
		flags := a.flagsOf(example)
		input, err := load.Paths(t.Context(), []string{example}, load.Options{Assumptions: flags.assumptions})
		if err != nil {
			t.Fatal(err)
		}
		result := lint.Run(t.Context(), input.Snapshots, lint.Config{
			Rules: rules.All(), Target: flags.target, TargetGiven: flags.target.Plane != "",
		})
		suppress.Apply(result, suppress.Options{Ran: rules.All(), Known: allRules()})
		for _, failure := range result.Failures {
			t.Errorf("%s: %v\n%s", example, failure, failure.Stack)
		}
		var own strings.Builder
		if err := report.Text(&own, result, report.TextOptions{}); err != nil {
			t.Fatal(err)
		}
		bad := strings.HasPrefix(example, "bad")
		if bad {
			if text.Len() > 0 {
				text.WriteString("\n")
			}
			text.WriteString(own.String())
		}
		if !bad && len(result.Diagnostics) > 0 {
			t.Errorf("%s is not silent:\n%s", example, own.String())
		}
		if bad && !slices.ContainsFunc(result.Diagnostics, func(d lint.Diagnostic) bool { return d.Rule.ID() == a.rule }) {
			t.Errorf("%s: the rule has nothing to say about it:\n%s", example, own.String())
		}
		all = append(all, judgement{archive: a, example: example, snapshots: input.Snapshots, found: result.Diagnostics})
	}
	if got := text.String(); *update {
		a.update(t, got)
	} else if diff := cmp.Diff(a.want(), got); diff != "" {
		t.Errorf("want differs (go test ./rules -update writes it):\n%s", diff)
	}
	return all
}

// judgement is what the rules said of an example; Envoy has to agree with what they say of being refused.
type judgement struct {
	archive   *archive
	example   string
	snapshots []*graph.Snapshot
	found     []lint.Diagnostic
}

func askEnvoy(t *testing.T, judgements []judgement) {
	for _, j := range judgements {
		why := j.archive.envoy[j.example]
		t.Run(j.archive.rule+"/"+j.example, func(t *testing.T) {
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

// envoy is the one that the example is judged for.
func (j judgement) envoy() envoytest.Version {
	return envoytest.Version(j.archive.flagsOf(j.example).target.Version)
}

// validate judges the bootstrap of an example. Envoy does not open the files that it names.
func (j judgement) validate(t *testing.T, crash bool) {
	dir := t.TempDir()
	j.archive.extract(t, dir)
	bootstrap := j.bootstrap()
	if bootstrap == "" {
		t.Fatalf("%s has no bootstrap: say \"%s: push\" in the file envoy", j.example, j.example)
	}
	verdict, err := j.envoy().Validate(t.Context(), filepath.Join(dir, bootstrap))
	if err != nil {
		t.Fatal(err)
	}
	booted := slices.DeleteFunc(slices.Clone(j.found), func(d lint.Diagnostic) bool { return d.Resource.File.Name != bootstrap })
	refusals := refused(booted)
	want := envoytest.Accept
	switch {
	case crash:
		want = envoytest.Crash
	case len(refusals) > 0:
		want = envoytest.Reject
	}
	if verdict.Outcome != want {
		t.Errorf("envoy says %s; the rules say %s: %s", verdict, want, strings.Join(refusals, "; "))
	}
}

// bootstrap is the file that Envoy starts with; one that cannot be read at all stands for a bootstrap too.
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
	refusals := refused(j.found)
	if refuses := result.Nack() != "" || result.Crashed; refuses != (len(refusals) > 0) {
		t.Errorf("envoy says %q (crashed: %t); the rules say: %s", result.Nack(), result.Crashed, strings.Join(refusals, "; "))
	}
}

// TestEveryRuleIsComplete: a rule has its texts, a file that is built everywhere, and an archive.
func TestEveryRuleIsComplete(t *testing.T) {
	examples := map[string]bool{}
	for _, a := range archives(t) {
		examples[a.rule] = true
	}
	for _, r := range rules.All() {
		if r.Summary == "" || r.Why == "" || r.Severity == 0 {
			t.Errorf("%s lacks Summary, Why or Severity", r.ID())
		}
		if strings.Contains(r.Summary+r.Why, "TODO") {
			t.Errorf("%s: Summary or Why is not written yet", r.ID())
		}
		file := filepath.Join(r.Group, strings.ReplaceAll(r.Name, "-", "_")+".go")
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s: a rule stands in a file of its own name: %v", r.ID(), err)
		}
		if !examples[r.ID()] {
			t.Errorf("%s has no archive under testdata/rules", r.ID())
		}
		delete(examples, r.ID())
	}
	for _, r := range suppress.Rules.Rules() {
		delete(examples, r.ID())
	}
	for id := range examples {
		t.Errorf("%s has an archive and is no rule", id)
	}
}

// TestFilesAreBuilt: Go leaves out x_test.go, x_linux.go, x_wasm.go … without a word.
func TestFilesAreBuilt(t *testing.T) {
	files, err := filepath.Glob("*/*.go")
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
