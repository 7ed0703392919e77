package difftest

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/verdict"
)

var update = flag.Bool("update", false, "write what Envoy says")

func testCorpus(t *testing.T) *corpus {
	t.Helper()
	c, err := loadCorpus("")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func testMaker(t *testing.T) *maker { return newMaker(testCorpus(t)) }

// rich returns the seeds that are not examples of rules.
func (c *corpus) rich() []seed {
	return slices.DeleteFunc(slices.Clone(c.seeds), func(s seed) bool { return !s.rich })
}

func TestSeedsAreAccepted(t *testing.T) {
	envoytest.Need(t)
	rich := corpus{testCorpus(t).rich()}
	skipped, err := rich.keepAccepted(t.Context(), bothJudges)
	if err != nil || len(skipped) > 0 || len(rich.seeds) < 8 {
		t.Errorf("of %d seeds one of the two rejects %q (%v)", len(rich.seeds), skipped, err)
	}
}

// Two makers make the same cases, in any order, and no two cases are equal by accident.
func TestSameSeedSameCases(t *testing.T) {
	t.Parallel()
	const n = 60
	texts := func(seed uint64) [n]string {
		m := testMaker(t)
		var all [n]string
		err := parallel(t.Context(), n, func(_ context.Context, i int) error {
			c := m.make(seed, n-1-i)
			all[n-1-i] = c.String() + "\n" + c.root.yaml()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	first, again, other := texts(1), texts(1), texts(2)
	for i := range first {
		if first[i] != again[i] {
			t.Errorf("case %d is not the same:\n%s\nand\n%s", i, first[i], again[i])
		}
		if first[i] == other[i] {
			t.Errorf("case %d does not depend on the seed", i)
		}
	}
}

// TestEveryCaseIsExact: a written tree is read back as the same tree, so Envoy and xdslint get the intended configuration.
func TestEveryCaseIsExact(t *testing.T) {
	t.Parallel()
	m := testMaker(t)
	kinds, names := map[Kind]int{}, map[string]int{}
	for i := range 400 {
		c := m.make(7, i)
		kinds[c.Kind]++
		for _, name := range c.Mutations {
			names[name]++
		}
		if text := c.root.yaml(); !alike(parse([]byte(text)), c.root) {
			t.Fatalf("%s is read back as something else:\n%s", c, text)
		}
	}
	for _, kind := range Kinds {
		if kinds[kind] < 50 {
			t.Errorf("only %d cases of %s", kinds[kind], kind)
		}
	}
	for _, mutation := range mutations {
		if names[mutation.name] == 0 {
			t.Errorf("no case of %q", mutation.name)
		}
	}
}

// alike is equality, but for the numbers that Envoy's YAML reader makes strings of: 0.5 and what is longer than an int.
func alike(a, b *value) bool {
	return a != nil && a.text == b.text && slices.Equal(a.keys, b.keys) && slices.EqualFunc(a.items, b.items, alike) &&
		(a.kind == b.kind || a.kind == tree.String && b.kind == tree.Number)
}

// An Envoy that rejects the word bad in a listener, and an xdslint that does not see it.
func TestShrink(t *testing.T) {
	t.Parallel()
	calls := 0
	j := judges{
		envoy: func(_ context.Context, text string) (envoytest.Verdict, error) {
			calls++
			if strings.Contains(text, "bad") && strings.Contains(text, "listeners") {
				return envoytest.Verdict{Outcome: envoytest.Reject, Message: "listener is bad"}, nil
			}
			return envoytest.Verdict{Outcome: envoytest.Accept}, nil
		},
		xdslint: func(context.Context, string) ([]verdict.Reason, error) { return nil, nil },
	}
	root := parse([]byte(`
admin: {profile_path: /dev/null}
static_resources:
  clusters: [{name: a}, {name: b}, {name: c}]
  listeners: [{name: one}, {name: two, stat_prefix: bad, filter_chains: [{}, {}]}, {name: three}]
`))
	c := &Case{Kind: "listeners", Mutations: []string{"boundary"}, root: root}
	var err error
	if c.Answer, err = j.ask(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	c.settle()
	if err := shrink(t.Context(), j, c); err != nil {
		t.Fatal(err)
	}
	const want = "{static_resources: {listeners: [{stat_prefix: bad}]}}"
	if got := c.root.flow(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if calls > envoyCalls {
		t.Errorf("%d calls of Envoy", calls)
	}
	if text := c.file(); !strings.HasPrefix(text, "# xdslint accepts; Envoy: reject: listener is bad\n") {
		t.Errorf("the file says %q", text)
	}
}

func TestNormalise(t *testing.T) {
	t.Parallel()
	root := parse([]byte("static_resources: {clusters: [{name: api}, {name: route}], routes: [{route: {cluster: api}}]}"))
	for in, want := range map[string]string{
		"Didn't find 'x' or \"y \\\" z\" in cluster api": "Didn't find _ or _ in cluster _",
		"rapid route 10.0.0.1 of api's":                  "rapid route N of _'s",
		`(field: "weight", reason: 7)`:                   "(field: weight, reason: N)",
		"Field 'weight' is missing in: name: a":          "Field _ is missing in:…",
	} {
		if got := normalise(in, root); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	reject, accept := envoytest.Verdict{Outcome: envoytest.Reject}, envoytest.Verdict{Outcome: envoytest.Accept}
	reasons := []verdict.Reason{{Rule: "a/b"}}
	var cases []*Case
	for _, a := range []Answer{{reject, reasons}, {reject, nil}, {accept, nil}, {accept, nil}, {accept, nil}, {accept, reasons}, {envoytest.Verdict{Outcome: envoytest.Crash}, nil}} {
		cases = append(cases, &Case{Kind: "routes", Mutations: []string{"drop", "drop"}, Answer: a, message: "m"})
	}
	r := newReport(cases, nil, 1)
	if r.Recall() != 50 || r.FalseShare() != 25 || len(r.groups) != 2 {
		t.Errorf("recall %v, false %v, %d groups", r.Recall(), r.FalseShare(), len(r.groups))
	}
	var b strings.Builder
	r.Print(&b)
	for _, want := range []string{"routes                7        2      1    50.0%        4      1   25.00%        1", "False rejects", "Misses", "Crashes"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in:\n%s", want, b.String())
		}
	}
}
