package transitions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
)

// gateCase is a push that a gate has to judge.
type gateCase struct {
	*Case
	then *graph.Snapshot // fixed.yaml; nil: there is none
	aboutGate
}

// aboutGate is what case.yaml says about a case.
type aboutGate struct {
	Why      string
	Without  string         // what happens without a gate
	Shows    []string       // the symptoms without a gate, in words of Result.Symptoms
	Lost     []string       // requests among Answers that get no answer without a gate
	Only     lint.Transport // the only transport over which this shows; empty: all
	Withheld []string       // as "kind name"
	Answers  requests       // after the gate has let through what it does not withhold
	Retired  []string       // upstreams that end after that
	Fixed    requests       // like Answers, after fixed.yaml
}

// requests are hosts with paths, and the upstreams that answer them, by their addresses in the files.
type requests map[string]string

func gateCases(t *testing.T) []*gateCase {
	t.Helper()
	paths, err := filepath.Glob("../../testdata/gate/*/case.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no cases", err)
	}
	var all []*gateCase
	for _, path := range paths {
		all = append(all, readGateCase(t, filepath.Dir(path)))
	}
	return all
}

func readGateCase(t *testing.T, dir string) *gateCase {
	t.Helper()
	c := &gateCase{Case: &Case{Name: filepath.Base(dir)}}
	text, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Load(text, &c.aboutGate, yaml.WithKnownFields()); err != nil {
		t.Fatal(err)
	}
	c.Old, c.New = readSide(t, filepath.Join(dir, "old")), readSide(t, filepath.Join(dir, "new"))
	if c.Fixed != nil {
		c.then = readSide(t, filepath.Join(dir, "fixed"))
	}
	return c
}

// TestGate shows the use of a gate in front of a real control plane. Without it, each push permanently breaks traffic that worked. With it, no request
// fails: Block leaves everything unchanged, and Quarantine lets through what is not broken.
func TestGate(t *testing.T) {
	envoytest.Need(t)
	var jobs []Job
	var names []string
	add := func(c *gateCase, how string, transport lint.Transport, run runner) {
		jobs = append(jobs, Job{c.Case, Mode{Push: lint.Push{Transport: transport}, RTT: FarRTT, Rate: SmallRate}, run})
		names = append(names, strings.Join([]string{c.Name, how, string(transport)}, "/"))
	}
	for i, c := range gateCases(t) {
		if skipped(i, c.Name) {
			continue
		}
		for j, transport := range []lint.Transport{lint.ADSSotW, lint.ADSDelta} {
			if !testing.Short() || c.Only != "" || i%2 == j {
				add(c, "gate", transport, c.gated)
			}
			// The harm is the same over both, where it is not said to be otherwise.
			if len(c.Shows) > 0 && (c.Only == transport || c.Only == "" && i%2 != j) {
				add(c, "no gate", transport, c.plain)
			}
		}
	}
	for i, o := range Bench(t.Context(), jobs, envoys, nil) {
		t.Run(names[i], func(t *testing.T) {
			t.Log(o.Result)
			if o.Err != nil {
				t.Error(o.Err)
			}
		})
	}
}

// What Envoy lives with a gate lets through: each of these transitions runs on a real one.
func TestGateAdmits(t *testing.T) {
	envoytest.Need(t)
	cases, err := Cases(t.Context(), "../../testdata/transitions")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range examples(t) {
		if strings.Contains(e.Name, "/good") {
			cases = append(cases, e.Case)
		}
	}
	for _, c := range cases {
		if strings.Contains(c.Name, *only) {
			t.Run(c.Name, func(t *testing.T) {
				t.Parallel()
				for _, d := range admit(t, c) {
					t.Errorf("%s: new errors %v, withheld %v", d.Outcome, d.New, d.Withheld)
				}
			})
		}
	}
}
