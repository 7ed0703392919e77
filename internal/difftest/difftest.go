package difftest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// Options configure Run.
type Options struct {
	N      int    // how many cases
	Seed   uint64 // of the random choices
	Folder string // of more bootstraps to mutate; empty: none
	Out    string // folder for the small cases; empty: they are neither shrunk nor written
}

// workers is the number of cases that are judged at the same time. Two run Envoy while others run xdslint.
const workers = 3

// Run makes, judges and shrinks cases.
func Run(ctx context.Context, o Options) (*Report, error) {
	corpus, err := loadCorpus(o.Folder)
	if err != nil {
		return nil, err
	}
	skipped, err := corpus.keepAccepted(ctx, bothJudges)
	if err != nil {
		return nil, err
	}
	maker := newMaker(corpus)
	cases := make([]*Case, o.N)
	err = parallel(ctx, o.N, func(ctx context.Context, i int) (err error) {
		cases[i] = maker.make(o.Seed, i)
		if cases[i].Answer, err = bothJudges.ask(ctx, cases[i].root); err != nil {
			return cases[i].failed(err, o.Out)
		}
		cases[i].settle()
		return nil
	})
	if err != nil {
		return nil, err
	}
	report := newReport(cases, skipped, len(corpus.seeds))
	if o.Out == "" {
		return report, nil
	}
	return report, report.write(ctx, bothJudges, o.Out)
}

// make builds case i. Its random choices depend only on the seed and i, not on the worker or the time.
func (m *maker) make(seed uint64, i int) *Case {
	return m.mutate(rand.New(rand.NewPCG(seed, uint64(i))), i)
}

// parallel calls f for 0 … n-1, and stops at the first error.
func parallel(ctx context.Context, n int, f func(ctx context.Context, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan int)
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for i := range next {
				if err := f(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	group.Wait()
	return context.Cause(ctx)
}

// Case is a mutated bootstrap and the two verdicts about it.
type Case struct {
	Index     int
	Seed      string   // the bootstrap that was mutated
	Kind      Kind     // of the resource that was mutated
	Mutations []string // most have one
	Answer

	root    *value // nil once it is known that both agree
	message string // what a disagreement is about, normalised
}

// settle drops the tree of a case that does not need shrinking, and names the other cases.
func (c *Case) settle() {
	switch c.outcome() {
	case miss:
		c.message = normalise(c.Envoy.Message, c.root)
	case falseReject:
		c.message = c.Reasons[0].Rule + ": " + normalise(c.Reasons[0].Message, c.root)
	case crashed:
	default:
		c.root = nil
	}
}

// failed keeps the text of a case that could not be judged, such as one on which a rule panics.
func (c *Case) failed(err error, dir string) error {
	if errors.Is(err, context.Canceled) || dir == "" {
		return fmt.Errorf("%s: %w", c, err)
	}
	path := filepath.Join(dir, fmt.Sprintf("failed-%d.yaml", c.Index))
	return errors.Join(fmt.Errorf("%s: %w (see %s)", c, err, path), save(path, c.root.yaml()))
}

// outcome is the relation of the two answers.
type outcome string

const (
	bothAccept  outcome = "both accept"
	bothReject  outcome = "both reject"
	miss        outcome = "miss"  // only Envoy rejects
	falseReject outcome = "false" // only xdslint rejects
	crashed     outcome = "crash" // of Envoy, which is not a verdict
)

func (a Answer) outcome() outcome {
	switch {
	case a.Envoy.Outcome == envoytest.Crash || a.Envoy.Outcome == envoytest.Timeout:
		return crashed
	case a.Envoy.Outcome == envoytest.Reject && len(a.Reasons) == 0:
		return miss
	case a.Envoy.Outcome == envoytest.Reject:
		return bothReject
	case len(a.Reasons) > 0:
		return falseReject
	}
	return bothAccept
}

func (c *Case) String() string {
	return fmt.Sprintf("case %d: %s of %s, %s", c.Index, c.Kind, c.Seed, join(c.Mutations))
}
