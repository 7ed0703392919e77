package lint_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// maxFindings is that of the package.
const maxFindings = 20_000

// many is a snapshot whose clusters have as many findings as their names say, of rules that are numbers.
func many(counts ...[]int) *graph.Snapshot {
	s := &graph.Snapshot{}
	file := &graph.SourceFile{Name: "many.yaml"}
	for i, byRule := range counts {
		name := strings.Trim(strings.ReplaceAll(fmt.Sprint(byRule), " ", "-"), "[]")
		s.Add(&graph.Resource{Kind: graph.Cluster, Name: name, File: file, Message: &clusterv3.Cluster{Name: fmt.Sprint(i)}})
	}
	s.Build()
	return s
}

// counting is rule i of a snapshot of many: it has so many findings in each cluster.
func counting(i int, severity lint.Severity) *lint.Rule {
	rule := &lint.Rule{Name: fmt.Sprintf("rule-%d", i), Severity: severity}
	rule.Run = lint.Each(func(p *lint.Pass, at lint.At, m *clusterv3.Cluster) {
		if m.GetName() == "0" && i == 0 {
			time.Sleep(time.Millisecond) // so that resources end in another order
		}
		var n int
		if _, err := fmt.Sscan(strings.Split(at.Resource().Name, "-")[i], &n); err != nil {
			panic(err)
		}
		for k := range n {
			p.Reportf(at, "finding %d of cluster %s", k, m.GetName())
		}
	})
	return rule
}

// TestFewFindings: a run keeps all findings if there are not very many.
func TestFewFindings(t *testing.T) {
	rule := counting(0, lint.Warning)
	result := lint.Run(t.Context(), []*graph.Snapshot{many([]int{maxFindings - 1}, []int{1})}, lint.Config{Rules: []*lint.Rule{rule}})
	if len(result.Diagnostics) != maxFindings || result.Diagnostics[maxFindings-1].More != 0 {
		t.Errorf("%d findings", len(result.Diagnostics))
	}
}

// TestSharedLimit: rules with few findings keep all of them, the others the first ones in the order of resources. What is
// left out is counted, however the resources are scheduled.
func TestSharedLimit(t *testing.T) {
	for seed := range uint64(10) {
		random := rand.New(rand.NewPCG(seed, 0))
		counts := make([][]int, 1+random.IntN(12))
		var total [3]int
		for i := range counts {
			counts[i] = make([]int, len(total))
			for k := range total {
				counts[i][k] = []int{0, 0, 1, 100, 3000, 45_000}[random.IntN(6)]
				total[k] += counts[i][k]
			}
		}
		var all []*lint.Rule
		for k, severity := range []lint.Severity{lint.Info, lint.Warning, lint.Error} {
			all = append(all, counting(k, severity))
		}
		result := lint.Run(t.Context(), []*graph.Snapshot{many(counts...)}, lint.Config{Rules: all})

		share, kept, known := shared(total[:]), 0, map[string]bool{}
		for _, d := range result.Diagnostics {
			known[d.Rule.Name+d.Message] = true
		}
		for k, rule := range all {
			want := min(total[k], share)
			got, more := 0, 0
			next := places(counts, k)
			for _, d := range result.Diagnostics {
				switch {
				case d.Rule != rule:
				case d.More > 0:
					more += d.More
					if d.Severity != rule.Severity || d.Resource.File.Name != "many.yaml" {
						t.Errorf("%s in %s: %s", d.Severity, d.Resource.File.Name, d.Message)
					}
				default:
					got++
					if message := next(); !known[rule.Name+message] {
						t.Fatalf("%s is left out", message)
					}
				}
			}
			if got != want || more != total[k]-want {
				t.Errorf("rule %d of %v: %d findings and %d more, want %d and %d", k, total, got, more, want, total[k]-want)
			}
			kept += got
		}
		if kept > maxFindings {
			t.Errorf("%d findings are kept", kept)
		}
	}
}

// shared is the share of a rule, found in another way.
func shared(total []int) int {
	sum := func(share int) (n int) {
		for _, t := range total {
			n += min(t, share)
		}
		return n
	}
	share := maxFindings
	for sum(share) > maxFindings {
		share--
	}
	return share
}

// places returns the messages of a rule's findings, in the order of resources.
func places(counts [][]int, rule int) func() string {
	cluster, k := 0, -1
	return func() string {
		for k++; k >= counts[cluster][rule]; k = 0 {
			cluster++
		}
		return fmt.Sprintf("finding %d of cluster %d", k, cluster)
	}
}

// TestLongTexts: texts are cut, and findings about long names count as several.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("n", 2_000_000)
	s := &graph.Snapshot{}
	s.Add(&graph.Resource{Kind: graph.Cluster, Name: long, File: &graph.SourceFile{Name: "a"}, Message: &clusterv3.Cluster{}})
	s.Build()
	rule := &lint.Rule{Name: "long", Severity: lint.Error, Run: lint.Each(func(p *lint.Pass, at lint.At, _ *clusterv3.Cluster) {
		for range 100 {
			p.Report(at, lint.Diagnostic{Message: long, Notes: []string{long}, Help: long, Related: []lint.Related{{Message: long, Resource: at.Resource()}}})
		}
	})}
	result := lint.Run(t.Context(), []*graph.Snapshot{s}, lint.Config{Rules: []*lint.Rule{rule}})
	if n := len(result.Diagnostics); n != 11 || result.Diagnostics[10].More != 90 {
		t.Fatalf("%d findings, %d more", n, result.Diagnostics[n-1].More)
	}
	for _, text := range []string{result.Diagnostics[0].Message, result.Diagnostics[0].Notes[0], result.Diagnostics[0].Help, result.Diagnostics[0].Related[0].Message} {
		if len(text) > 1010 {
			t.Errorf("a text has %d bytes", len(text))
		}
	}
}

// TestEndsInsideOfARule: a rule that reports is left when the context of the run has ended, and that is not a failure.
func TestEndsInsideOfARule(t *testing.T) {
	for name, check := range map[string]func(report func(*lint.Pass, lint.At)) lint.Check{
		"each": func(report func(*lint.Pass, lint.At)) lint.Check {
			return lint.Each(func(p *lint.Pass, at lint.At, _ *clusterv3.Cluster) { report(p, at) })
		},
		"whole": func(report func(*lint.Pass, lint.At)) lint.Check {
			return lint.ForSnapshot(func(p *lint.Pass) { report(p, p.Snapshot.All()[0].At()) })
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		calls := 0
		rule := &lint.Rule{Name: "endless", Severity: lint.Error, Run: check(func(p *lint.Pass, at lint.At) {
			for calls = range 1_000_000 {
				if calls == 100 {
					cancel()
				}
				p.Reportf(at, "again")
			}
		})}
		result := lint.Run(ctx, []*graph.Snapshot{many([]int{0})}, lint.Config{Rules: []*lint.Rule{rule}})
		if calls != 100 || len(result.Diagnostics) != 100 || len(result.Failures) > 0 {
			t.Errorf("%s: it ended after %d calls with %d findings and %d failures", name, calls, len(result.Diagnostics), len(result.Failures))
		}
	}
}
