package rules_test

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/lint"
)

// judgement is what the rules report about an example. Where they say that Envoy rejects it, Envoy has to.
type judgement struct {
	archive   *archive
	example   string
	target    dataplane.Target
	texts     map[string][]byte // fixed ones
	snapshots []*graph.Snapshot
	found     []lint.Diagnostic
	records   *envoytest.Records
}

func (a *archive) askEnvoy(t *testing.T, judgements []judgement) {
	records, err := envoytest.OpenRecords(filepath.Join(filepath.Dir(a.path), "..", "..", "verdicts", a.rule+".txt"), *update)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("all", func(t *testing.T) {
		for _, j := range judgements {
			j.records = records
			t.Run(j.name(), func(t *testing.T) {
				t.Parallel()
				switch why := a.envoy[j.example]; {
				case why == "" && j.bootstrap() == "":
					j.push(t)
				case why == "", why == "crash":
					j.validate(t, why == "crash")
					j.assume(t, judgements)
				}
				if j.target == a.flagsOf(j.example).target {
					j.see(t)
				}
			})
		}
	})
	if err := records.Write(); err != nil {
		t.Fatal(err)
	}
}

// about names the example, or what its fixes make of it.
func (j judgement) about() string {
	if j.texts != nil {
		return j.example + "/fixed"
	}
	return j.example
}

// evidence names the evidence for it. A fixed example has its own, or that of its good twin: good2.yaml is the one of bad2.yaml.
func (j judgement) evidence() string {
	if j.texts == nil {
		return j.example
	}
	if own := "fixed/" + j.example; j.archive.seen[own] != nil {
		return own
	}
	return strings.Replace(j.example, "bad", "good", 1)
}

func (j judgement) name() string {
	return j.about() + string(j.target.Plane) + j.target.Version
}

// envoy is the one that the example is judged for.
func (j judgement) envoy() envoytest.Version {
	return envoytest.Version(j.target.Version)
}

// files are those of the example, by their names in the archive.
func (j judgement) files() map[string]string {
	all := map[string]string{}
	for _, f := range j.archive.files() {
		if name, _, _ := strings.Cut(f.Name, "/"); name == j.example {
			all[f.Name] = f.Whole()
		}
	}
	for name, text := range j.texts {
		all[name] = string(text)
	}
	return all
}

// ask is what Envoy says of the example in some way, which f takes.
func (j judgement) ask(t *testing.T, way string, f func() (envoytest.Verdict, error)) envoytest.Verdict {
	t.Helper()
	verdict, err := j.records.Ask(j.envoy(), envoytest.Question{About: j.about(), Way: way, Digest: envoytest.Digest(j.files())}, f)
	if err != nil {
		t.Error(err)
	}
	return verdict
}

// see does what the archive's evidence says with a running Envoy.
func (j judgement) see(t *testing.T) {
	name, files := j.evidence(), j.files()
	e := j.archive.seen[name]
	if e == nil {
		return
	}
	section, asked := explain.Seen+"/"+name, maps.Clone(files)
	asked[section] = j.archive.section(section)
	_, err := j.records.Ask(j.envoy(), envoytest.Question{About: j.about(), Way: explain.Seen, Digest: envoytest.Digest(asked)}, func() (envoytest.Verdict, error) {
		return envoytest.Verdict{Outcome: envoytest.Holds}, e.Check(t.Context(), j.envoy(), files)
	})
	if err != nil {
		t.Error(err)
	}
}

// validate judges the bootstrap of an example. Envoy does not open the files that it names.
func (j judgement) validate(t *testing.T, crash bool) {
	bootstrap, dir := j.bootstrap(), t.TempDir()
	if err := j.write(dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, filepath.FromSlash(bootstrap))
	verdict := j.ask(t, "validate", func() (envoytest.Verdict, error) {
		verdict, err := j.envoy().Validate(t.Context(), path)
		verdict.Message = strings.ReplaceAll(verdict.Message, dir+string(filepath.Separator), "")
		return verdict, err
	})
	booted := slices.DeleteFunc(slices.Clone(j.found), func(d lint.Diagnostic) bool { return d.Resource.File.Name != bootstrap })
	refusals := rejections(booted)
	want := envoytest.Accept
	switch {
	case crash:
		want = envoytest.Crash
	case len(refusals) > 0:
		want = envoytest.Reject
	}
	if want == envoytest.Reject && verdict.Outcome == envoytest.Accept && j.refusedAtStart(t) {
		return
	}
	if verdict.Outcome != want {
		t.Errorf("Envoy says %s; the rules say %s: %s", verdict, want, strings.Join(refusals, "; "))
	}
}

// assume starts Envoy with nothing of what a rule says has to hold. Where no finding of the rule says so, Envoy does not need it.
func (j judgement) assume(t *testing.T, all []judgement) {
	if !slices.ContainsFunc(all, func(j judgement) bool { return j.unless() != nil }) {
		return
	}
	want, says := envoytest.Accept, ""
	if d := j.unless(); d != nil {
		want, says = envoytest.Reject, d.Upstream
	}
	if got := j.start(t, "start-without-node", j.envoy().ServeWithoutNode, says); got != want {
		t.Errorf("Envoy says %s without a node on its command line; the rule says %s", got, want)
	}
}

// unless returns the finding of the archive's rule that depends on what the example does not show.
func (j judgement) unless() *lint.Diagnostic {
	for i, d := range j.found {
		if d.Unless != "" && d.Rule.ID() == j.archive.rule {
			return &j.found[i]
		}
	}
	return nil
}

// write puts the example into a folder.
func (j judgement) write(dir string) error {
	for name, text := range j.files() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// refusedAtStart starts an older Envoy. Its validate mode does not check what needs its runtime, but the server rejects that.
func (j judgement) refusedAtStart(t *testing.T) bool {
	if j.envoy() == envoytest.Newest {
		return false
	}
	return j.start(t, "start", j.envoy().Serve, "") == envoytest.Reject
}

// start starts an Envoy with the bootstrap of an example, in one way. Where it ends, it has to say this.
func (j judgement) start(t *testing.T, way string, serve func(ctx context.Context, text, ext string) (*envoytest.Envoy, error), says string) envoytest.Outcome {
	return j.ask(t, way, func() (envoytest.Verdict, error) {
		name := j.bootstrap()
		server, err := serve(t.Context(), j.files()[name], filepath.Ext(name))
		switch {
		case err == nil:
			server.Close()
			return envoytest.Verdict{Outcome: envoytest.Accept}, nil
		case errors.Is(err, envoytest.ErrEnded) && strings.Contains(err.Error(), says):
			return envoytest.Verdict{Outcome: envoytest.Reject}, nil
		}
		return envoytest.Verdict{}, err
	}).Outcome
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
	verdict := j.ask(t, "push", func() (v envoytest.Verdict, err error) {
		var messages []proto.Message
		for _, s := range j.snapshots {
			for _, r := range s.Resources {
				messages = append(messages, r.Message)
			}
		}
		resources, err := envoytest.Pack(messages...)
		if err != nil {
			return v, err
		}
		result, err := j.envoy().Push(t.Context(), resources)
		switch {
		case err != nil:
			return v, err
		case result.Crashed:
			return envoytest.Verdict{Outcome: envoytest.Crash}, nil
		case result.Nack() != "":
			return envoytest.Verdict{Outcome: envoytest.Reject, Message: result.Nack()}, nil
		}
		return envoytest.Verdict{Outcome: envoytest.Accept}, nil
	})
	refusals := rejections(j.found)
	if refuses := verdict.Outcome != envoytest.Accept; refuses != (len(refusals) > 0) {
		t.Errorf("Envoy says %s; the rules say: %s", verdict, strings.Join(refusals, "; "))
	}
}
