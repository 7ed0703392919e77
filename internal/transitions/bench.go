package transitions

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/xdslint/xdslint/lint"
)

// Job is a case in a mode.
type Job struct {
	Case *Case
	Mode Mode
	run  runner // nil: Run
}

type runner func(context.Context, *Case, Mode) (*Result, error)

// Outcome is the outcome of a job.
type Outcome struct {
	Job
	*Result
	Err error // of the bench itself
}

// Jobs returns the jobs of a complete measurement: naive and planned, over each transport, near the control plane and far from it.
func Jobs(cases []*Case, transports []lint.Transport, runs int) []Job {
	var all []Job
	for _, c := range cases {
		for _, transport := range transports {
			for _, rtt := range []time.Duration{0, FarRTT} {
				for range runs {
					for _, planned := range []bool{false, true} {
						if c.Over(transport) {
							all = append(all, Job{Case: c, Mode: Mode{Planned: planned, Push: lint.Push{Transport: transport}, RTT: rtt, Rate: FullRate}})
						}
					}
				}
			}
		}
	}
	return all
}

// FarRTT is the round trip time between an Envoy and a control plane in another region.
const FarRTT = 50 * time.Millisecond

// Bench runs jobs, some of them at once, and calls done for each that has finished. Outcomes are in the order of the jobs.
func Bench(ctx context.Context, jobs []Job, parallel int, done func(Outcome)) []Outcome {
	outcomes := make([]Outcome, len(jobs))
	next := make(chan int)
	var wg sync.WaitGroup
	var mu sync.Mutex
	for range parallel {
		wg.Go(func() {
			for i := range next {
				o := perform(ctx, jobs[i])
				mu.Lock()
				outcomes[i] = o
				if done != nil {
					done(o)
				}
				mu.Unlock()
			}
		})
	}
	for i := range jobs {
		next <- i
	}
	close(next)
	wg.Wait()
	return outcomes
}

// deadline is the time limit of one job: a planned push that gets stuck waits half a minute for an ACK, and a busy machine is slow.
const deadline = 5 * time.Minute

// A run in which the machine was stalled for longer than standstill shows nothing, and is repeated.
const (
	standstill = 500 * time.Millisecond
	attempts   = 3
)

func perform(ctx context.Context, j Job) Outcome {
	o := attempt(ctx, j)
	for n := 1; n < attempts && o.Stalled > standstill; n++ {
		o = attempt(ctx, j)
	}
	return o
}

func attempt(ctx context.Context, j Job) Outcome {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	run := Run
	if j.run != nil {
		run = j.run
	}
	r, err := run(ctx, j.Case, j.Mode)
	if err == nil && r.Requests == 0 {
		err = fmt.Errorf("no request went through: %v", r.Unanswered)
	}
	if r == nil {
		r = &Result{}
	}
	return Outcome{j, r, err}
}

func (m Mode) name() string {
	if m.Planned {
		return "planned"
	}
	return "naive"
}

func (m Mode) String() string {
	return fmt.Sprintf("%s %s %d ms", m.name(), m.Push.Transport, m.RTT.Milliseconds())
}

func (o Outcome) String() string {
	if o.Err != nil {
		return fmt.Sprintf("%s, %s: %v", o.Case.Name, o.Mode, o.Err)
	}
	return fmt.Sprintf("%s, %s: %s", o.Case.Name, o.Mode, o.Result)
}
