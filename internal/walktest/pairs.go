package walktest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/prove"
	"github.com/xdslint/xdslint/internal/walk"
)

// Pairs is what a comparison of proofs with pairs of real Envoys found.
type Pairs struct {
	Pairs, Alike, Different, Undecided int
	Confirmed, Chance, Unsent          int // differences: confirmed; with clusters that chance chooses; that the bench cannot send
	Requests                           int // that were sent to pairs that are alike
	Rejected                           int
	Wrong                              []string
}

// maxConfirmed is how many differences of a pair are confirmed.
const maxConfirmed = 5

// RunPairs proves pairs of configurations, and asks two Envoys. Requests is how many are sent to each pair that is alike.
func RunPairs(ctx context.Context, o Options) (*Pairs, error) {
	b, err := newBench()
	if err != nil {
		return nil, err
	}
	defer b.close()
	report := &Pairs{}
	for i := range o.Configurations {
		if err := b.pair(ctx, report, o.Seed+uint64(i), o.Requests); err != nil {
			return nil, fmt.Errorf("pair %d: %w", o.Seed+uint64(i), err)
		}
		o.progress("%d pairs, %d wrong", report.Pairs, len(report.Wrong))
	}
	return report, nil
}

// nominal is the port of listeners in proofs: the Envoys of a pair have two.
const nominal = 10000

// twins are the two sides of a pair.
type twins struct {
	seed    uint64
	what    string
	configs [2]*configuration
	views   [2]graph.View
	walkers [2]*walk.Walker
	envoys  [2]*envoytest.Envoy
	address [2]string
}

func (b *bench) pair(ctx context.Context, report *Pairs, seed uint64, requests int) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 13))}
	t := &twins{seed: seed}
	t.configs[0] = generate(seed, b.ports, b.certificate)
	t.configs[1], t.what = t.configs[0].twin(m)
	for i, c := range t.configs {
		view, err := read(ctx, c.text(nominal))
		if err != nil {
			return err
		}
		t.views[i], t.walkers[i] = view, walk.New(view)
		t.envoys[i], err = envoytest.Serve(ctx, c.text(0), ".json")
		if errors.Is(err, envoytest.ErrEnded) {
			report.Rejected++
			return nil
		}
		if err != nil {
			return err
		}
		defer t.envoys[i].Close()
		if t.address[i], err = t.envoys[i].Addr(ctx, "main"); err != nil {
			return err
		}
	}
	p := prove.Prove(t.views[0], t.views[1], prove.Options{})
	report.Pairs++
	switch {
	case p.Alike:
		report.Alike++
		return b.probe(ctx, report, t, m, requests)
	case len(p.Differences) > 0:
		report.Different++
		return b.confirm(ctx, report, t, p)
	}
	report.Undecided++
	return nil
}

// probe sends requests to both Envoys of a pair that is alike.
func (b *bench) probe(ctx context.Context, report *Pairs, t *twins, m *maker, requests int) error {
	boundaries := walk.BoundariesOf(t.views[0], t.views[1])
	var sent []*walk.Request
	for range requests {
		sent = append(sent, m.request(boundaries, t.configs[0]))
	}
	pairs, err := b.ask(ctx, t, sent)
	if err != nil {
		return err
	}
	for i, pair := range pairs {
		if chance, err := t.chance(sent[i]); err != nil {
			return err
		} else if chance {
			continue
		}
		if pair[0] != pair[1] {
			again, err := b.ask(ctx, t, slices.Repeat(sent[i:i+1], repeats))
			if err != nil {
				return err
			}
			if overlap(append(again, pair)) {
				continue // chance chooses a weighted cluster, and its headers are added where a filter answers
			}
		}
		report.Requests++
		if pair[0] != pair[1] {
			report.Wrong = append(report.Wrong, fmt.Sprintf("pair %d (%s) is alike, but %s\ngets %s\nand  %s", t.seed, t.what, written(sent[i]), pair[0], pair[1]))
		}
	}
	return nil
}

// repeats is how often a request is sent again to find out whether chance decides. Each weighted cluster of the bench gets a seventh or more.
const repeats = 100

// overlap reports whether an answer of one side is among those of the other.
func overlap(pairs [][2]string) bool {
	first := map[string]bool{}
	for _, pair := range pairs {
		first[pair[0]] = true
	}
	return slices.ContainsFunc(pairs, func(pair [2]string) bool { return first[pair[1]] })
}

// confirm sends the requests of differences.
func (b *bench) confirm(ctx context.Context, report *Pairs, t *twins, p *prove.Proof) error {
	var sent []*walk.Request
	for _, d := range p.Differences {
		chance, err := t.chance(d.Request)
		switch {
		case err != nil:
			return err
		case chance:
			report.Chance++
		case !t.sends(d.Request):
			report.Unsent++
		case len(sent) < maxConfirmed:
			sent = append(sent, d.Request)
		}
	}
	pairs, err := b.ask(ctx, t, sent)
	if err != nil {
		return err
	}
	for i, pair := range pairs {
		if pair[0] == pair[1] {
			report.Wrong = append(report.Wrong, fmt.Sprintf("pair %d (%s) is different, but both answer %s\nwith %s", t.seed, t.what, written(sent[i]), pair[0]))
			continue
		}
		report.Confirmed++
	}
	return nil
}

// sends reports whether the bench can send a request: it is at 127.0.0.1 and does not have credentials, and a tunnel does not end, which a filter may
// wait for.
func (t *twins) sends(r *walk.Request) bool {
	tunnel := r.Method == "CONNECT" || slices.ContainsFunc(r.Headers, func(h walk.Header) bool { return h[0] == "upgrade" })
	return len(r.Passing) == 0 && (r.Source == "" || r.Source == "127.0.0.1") && !(tunnel && t.configs[0].waits)
}

// chance reports whether chance chooses the cluster of a request on one of the sides.
func (t *twins) chance(r *walk.Request) (bool, error) {
	for _, w := range t.walkers {
		a, err := w.Walk(r)
		if err != nil || len(a.Weighted) > 0 {
			return true, err
		}
	}
	return false, nil
}

// ask sends requests to both Envoys, and returns what clients and upstreams see.
func (b *bench) ask(ctx context.Context, t *twins, sent []*walk.Request) ([][2]string, error) {
	pairs := make([][2]string, len(sent))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(maxAtOnce)
	for side, address := range t.address {
		for i, r := range sent {
			group.Go(func() error {
				s, err := b.send(ctx, address, r)
				pairs[i][side] = s.observed(address)
				return err
			})
		}
	}
	return pairs, group.Wait()
}

// maxAtOnce is how many requests are sent at once.
const maxAtOnce = 16

// observed is what a client and an upstream see of a request, without what is different each time.
func (s seen) observed(address string) string {
	lines := []string{statusOf(s), s.location}
	if len(s.upstream) == 0 {
		lines = append(lines, s.body)
	}
	for name, values := range s.headers {
		if !slices.Contains([]string{"Date", "X-Echo", "X-Envoy-Upstream-Service-Time", "Server", "Location"}, name) {
			lines = append(lines, "response "+name+": "+strings.Join(values, ", "))
		}
	}
	for _, line := range s.upstream {
		if !strings.HasPrefix(strings.ToLower(line), "x-request-id:") {
			lines = append(lines, "upstream "+line)
		}
	}
	slices.Sort(lines)
	return strings.ReplaceAll(strings.Join(lines, "\n"), address, "ADDRESS")
}

// Summary is the report as a table, and what is wrong.
func (p *Pairs) Summary() string {
	var b strings.Builder
	b.WriteString("| | |\n|---|---|\n")
	for _, row := range []struct {
		what string
		n    int
	}{
		{"pairs", p.Pairs},
		{"alike", p.Alike},
		{"different", p.Different},
		{"not decided", p.Undecided},
		{"differences that two Envoys confirmed", p.Confirmed},
		{"differences with clusters that chance chooses", p.Chance},
		{"differences that the bench cannot send", p.Unsent},
		{"requests to pairs that are alike", p.Requests},
		{"differences or requests with another answer than the proof says", len(p.Wrong)},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row.what, thousands(row.n))
	}
	for _, wrong := range p.Wrong {
		fmt.Fprintf(&b, "\n- %s\n", wrong)
	}
	return b.String()
}

// Err is an error if Envoys do not confirm what the proofs say.
func (p *Pairs) Err() error {
	if len(p.Wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%d wrong", len(p.Wrong))
}
