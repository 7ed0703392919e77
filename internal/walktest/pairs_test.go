package walktest

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/prove"
	"github.com/xdslint/xdslint/internal/walk"
)

// TestProofs: what a proof says about two configurations is what walks find. It does not need an Envoy: TestPairs and `make prove` ask two.
func TestProofs(t *testing.T) {
	pairs := uint64(400)
	if testing.Short() {
		pairs = 100
	}
	ports, count := map[string]int{"shop": 81, "cart": 82, "search": 83, "admin": 84}, map[string]int{}
	for seed := range pairs {
		m := &maker{Rand: rand.New(rand.NewPCG(seed, 13))}
		c := generate(seed, ports, [2]string{"certificate", "key"})
		d, what := c.twin(m)
		old, err := read(t.Context(), c.text(10000))
		if err != nil {
			t.Fatal(err)
		}
		now, err := read(t.Context(), d.text(10000))
		if err != nil {
			t.Fatal(err)
		}
		p := prove.Prove(old, now, prove.Options{})
		switch {
		case p.Alike:
			count["alike"]++
		case len(p.Differences) > 0:
			count["different"]++
		default:
			count["undecided"]++
			t.Logf("%d: %s: %v", seed, what, p.Undecided)
		}
		if !p.Alike {
			continue
		}
		before, after := walk.New(old), walk.New(now)
		boundaries := walk.BoundariesOf(old, now)
		for range 300 {
			r := m.request(boundaries, c)
			r.Source = "127.0.0.1"
			if x, y := nameless(t, before, r), nameless(t, after, r); x != y {
				t.Errorf("pair %d (%s) is alike, but %s gets %s\nand %s", seed, what, written(r), x, y)
				break
			}
		}
	}
	t.Log(count)
	for _, kind := range []string{"alike", "different"} {
		if count[kind] < int(pairs)/10 {
			t.Errorf("%d of %d pairs are %s", count[kind], pairs, kind)
		}
	}
	if count["undecided"] > int(pairs)/5 {
		t.Errorf("%d of %d pairs are not decided", count["undecided"], pairs)
	}
}

// nameless is the answer to a request, without the names that do not matter.
func nameless(t *testing.T, w *walk.Walker, r *walk.Request) string {
	t.Helper()
	a, err := w.Walk(r)
	if err != nil {
		t.Fatal(err)
	}
	a.Chain, a.VirtualHost, a.Route, a.Unknown = "", "", "", nil
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestPairs: two real Envoys confirm what proofs say. `make prove` asks about more pairs.
func TestPairs(t *testing.T) {
	envoytest.Need(t)
	o := Options{Configurations: 24, Requests: 100, Seed: 1}
	if testing.Short() {
		o.Configurations = 6
	}
	report, err := RunPairs(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range report.Wrong {
		t.Error(wrong)
	}
	if report.Pairs < o.Configurations*3/4 || report.Confirmed == 0 || report.Requests == 0 {
		t.Errorf("not much was compared: %+v", report)
	}
}
