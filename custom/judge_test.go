package custom

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	celtypes "cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/traits"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/types/known/anypb"
	"pgregory.net/rapid"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// priced is a constraint over clusters with made-up outcomes.
type priced struct {
	outcomes  []outcome // by the cluster's place in all snapshots
	snapshots []*graph.Snapshot
	rule      *lint.Rule
	evaluated atomic.Int64
}

func newPriced(name string, outcomes []outcome, sizes ...int) *priced {
	p := &priced{outcomes: outcomes}
	index := map[*graph.Resource]int{}
	for _, size := range sizes {
		s := &graph.Snapshot{}
		for range size {
			name := fmt.Sprintf("c%05d", len(index))
			r := &graph.Resource{Kind: graph.Cluster, Name: name, Message: &clusterv3.Cluster{Name: name}, File: &source.File{Name: "clusters.pb"}}
			index[r] = len(index)
			s.Add(r)
		}
		s.Build()
		p.snapshots = append(p.snapshots, s)
	}
	c := &constraint{
		budget: shared(2),
		subjects: func(s graph.View) subjects {
			all := s.All()
			return subjects{len(all), func(i int) (subject, bool) { return subject{at: all[i].AtName()}, true }}
		},
		evaluate: func(_ graph.View, s subject) outcome {
			p.evaluated.Add(1)
			return p.outcomes[index[s.at.Resource()]]
		},
	}
	origin := &lint.Origin{Name: "constraint acme/" + name, File: &source.File{Name: ".xdslint.yaml"}}
	p.rule = &lint.Rule{Group: "acme", Name: name, Severity: lint.Error, Origin: origin, Run: lint.ForOrigin(c.start)}
	return p
}

// want is what a run finds that takes one cluster after the other.
func (p *priced) want() (messages []string) {
	cost := uint64(0)
	for _, o := range p.outcomes {
		if o.err != nil {
			return []string{p.rule.Origin.Name + " " + o.err.Message}
		}
		if o.message != "" {
			messages = append(messages, o.message)
		}
		if cost += o.cost; cost > maxTotal/2 {
			return []string{p.rule.Origin.Name + " costs more than 100 million steps in all"}
		}
	}
	return messages
}

func (p *priced) run(others ...*lint.Rule) (messages []string) {
	for _, d := range lint.Run(context.Background(), p.snapshots, lint.Config{Rules: append(others, p.rule)}).Diagnostics {
		if d.Rule == p.rule || d.Rule == lint.CannotJudge && d.Message != "constraint acme/other fails" {
			messages = append(messages, d.Message)
		}
	}
	return messages
}

// TestBudget: a constraint may cost so much in all snapshots of a run, and not a unit more.
func TestBudget(t *testing.T) {
	outcomes := make([]outcome, 150)
	for i := range 100 {
		outcomes[i].cost = maxCost
	}
	p := newPriced("dear", outcomes, 70, 30, 50)
	if got := p.run(); len(got) != 0 {
		t.Error(got)
	}
	outcomes[149].cost = 1
	if diff := cmp.Diff(p.want(), p.run()); diff != "" || len(p.want()) != 1 {
		t.Error(diff)
	}
	if p.evaluated.Store(0); len(p.run()) != 1 || p.evaluated.Load() != 150 {
		t.Errorf("%d expressions were evaluated", p.evaluated.Load())
	}
}

// TestNoMoreThanTheBudget: if each expression costs as much as it may, none is evaluated for which the budget no longer suffices.
func TestNoMoreThanTheBudget(t *testing.T) {
	outcomes := make([]outcome, 5_000)
	for i := range outcomes {
		outcomes[i].cost = maxCost
	}
	p := newPriced("dear", outcomes, len(outcomes))
	if diff := cmp.Diff(p.want(), p.run()); diff != "" {
		t.Error(diff)
	}
	if n := p.evaluated.Load(); n != maxTotal/2/maxCost+1 {
		t.Errorf("%d expressions were evaluated", n)
	}
	outcomes[0].err = &lint.EvalError{Message: "fails"}
	if p.evaluated.Store(0); len(p.run()) != 1 || p.evaluated.Load() != 1 {
		t.Errorf("%d expressions were evaluated after the first failed", p.evaluated.Load()-1)
	}
}

// TestJudgesAsIfInOrder: on any number of processors a run finds what it would if it evaluated one expression after the other, also where one fails or where
// they cost too much.
func TestJudgesAsIfInOrder(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	other := newPriced("other", []outcome{{err: &lint.EvalError{Message: "fails"}}}, 0).rule
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.SampledFrom([]uint64{10, maxCost / 2, maxCost}).Draw(t, "most")
		outcomes := make([]outcome, rapid.IntRange(1, 400).Draw(t, "clusters"))
		for i := range outcomes {
			outcomes[i].cost = rapid.Uint64Range(1, most).Draw(t, "cost")
			if rapid.IntRange(0, 3).Draw(t, "finds") == 0 {
				outcomes[i].message = fmt.Sprintf("finding %d", i)
			}
		}
		for range rapid.IntRange(0, 2).Draw(t, "failures") {
			i := rapid.IntRange(0, len(outcomes)-1).Draw(t, "fails")
			outcomes[i].err = &lint.EvalError{Message: fmt.Sprintf("fails at %d", i)}
		}
		first := rapid.IntRange(0, len(outcomes)).Draw(t, "first snapshot")
		p := newPriced("dear", outcomes, first, len(outcomes)-first)
		for _, processors := range []int{1, 2, 8} {
			runtime.GOMAXPROCS(processors)
			if diff := cmp.Diff(p.want(), p.run(other)); diff != "" {
				t.Fatalf("on %d processors: %s", processors, diff)
			}
		}
	})
}

// TestLeftOut: what a constraint leaves out costs something too. Ten thousand constraints that are about none of many clusters look at a part of them.
func TestLeftOut(t *testing.T) {
	p := newPriced("narrow", nil, 15_000)
	looked := 0
	c := &constraint{budget: shared(10_000), subjects: func(s graph.View) subjects {
		return subjects{len(s.All()), func(int) (of subject, judged bool) {
			looked++
			return
		}}
	}}
	p.rule.Run = lint.ForOrigin(c.start)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	got := p.run()
	if len(got) != 1 || got[0] != "constraint acme/narrow costs more than 0.02 million steps in all" || looked > maxTotal/10_000/passing+1 {
		t.Errorf("it looked at %d, and finds %q", looked, got)
	}
}

// TestCost: an expression has the cost that CEL counts, more where it looks at more.
func TestCost(t *testing.T) {
	language := newLanguage(types.Envoy)
	cost := func(text string, lists int) uint64 {
		m := &maker{Constraint: &config.Constraint{Expression: text, Text: "wrong"}, language: language, budget: shared(1)}
		program := m.compile(objectType("envoy.config.cluster.v3.Cluster"), "")
		if program == nil {
			t.Fatalf("%s: %v", text, m.faults)
		}
		s := newPriced("free", nil, 1).snapshots[0]
		r := s.Resources[0]
		c := &clusterv3.Cluster{Name: "c00000", TypedExtensionProtocolOptions: map[string]*anypb.Any{}}
		for i := range lists {
			c.TransportSocketMatches = append(c.TransportSocketMatches, &clusterv3.Cluster_TransportSocketMatch{Name: "match"})
			c.TypedExtensionProtocolOptions[fmt.Sprint(i)] = &anypb.Any{TypeUrl: "x"}
		}
		o := (&expression{program, "wrong", m.budget}).evaluate(s, subject{r.AtName(), contained{c, r.Contents}})
		if o.err != nil {
			t.Fatalf("%s: %v", text, o.err)
		}
		return o.cost - evaluating
	}
	field, list := cost("this.name == 'c00000'", 0), cost("[1, 2, 3, 4, 5, 6, 7, 8].all(i, this.name != string(i))", 0)
	if field < 1 || field > 10 || list < 8*field || list > 1_000 {
		t.Errorf("a field costs %d, a list %d", field, list)
	}
	if known, made := cost("this.name.matches('.{999}')", 0), cost("this.name.matches('.{99' + string(9) + '}')", 0); known > 20 || made < 500 {
		t.Errorf("a regular expression that is known costs %d, another one %d", known, made)
	}
	for _, text := range []string{
		"this == this", "this.transport_socket_matches == this.transport_socket_matches",
		"this.typed_extension_protocol_options == this.typed_extension_protocol_options",
		"this.transport_socket_matches[0] in this.transport_socket_matches",
	} {
		if few, many := cost(text, 10), cost(text, 1000); many < 30*few || many > 200*few {
			t.Errorf("%s costs %d, and %d with a hundred times as much in it", text, few, many)
		}
	}
	if few, many := cost("'7' in this.typed_extension_protocol_options", 10), cost("'7' in this.typed_extension_protocol_options", 1000); few != many {
		t.Errorf("an entry of a map costs %d, and %d in a larger map", few, many)
	}
}

// TestEntry: an expression that reads an entry of a map field does not copy the map.
func TestEntry(t *testing.T) {
	c := &clusterv3.Cluster{TypedExtensionProtocolOptions: map[string]*anypb.Any{}}
	for i := range 1000 {
		c.TypedExtensionProtocolOptions[fmt.Sprint(i)] = &anypb.Any{TypeUrl: "x"}
	}
	language := newLanguage(types.Envoy)
	options, err := language.types.get(contained{c, nil}, "typed_extension_protocol_options")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(10, func() {
		if options.(traits.Mapper).Get(celtypes.String("7")).Type().TypeName() != "google.protobuf.Any" {
			t.Error("it has no entry")
		}
	}); n > 20 {
		t.Errorf("it takes %v allocations", n)
	}
}
