package transitions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan/apply"
)

// TestBurst pushes five snapshots in short succession, each with another cluster, route configuration and listener. No request fails, and the
// last one arrives as if it were the only one: in the time of a plan with its drain, and of the phase that was under way.
func TestBurst(t *testing.T) {
	envoytest.Need(t)
	c, err := readCase(t.Context(), "../../testdata/transitions/blue-green")
	if err != nil {
		t.Fatal(err)
	}
	var jobs []Job
	for i, apart := range []time.Duration{1, 5, 20, 40, 60, 90, 130} {
		for j, transport := range []lint.Transport{lint.ADSSotW, lint.ADSDelta} {
			for k, rtt := range []time.Duration{NearRTT, 0} {
				if testing.Short() && (i%2 != 0 || j != k) {
					continue
				}
				mode := Mode{Planned: true, Push: lint.Push{Transport: transport}, RTT: rtt, Rate: SmallRate}
				jobs = append(jobs, Job{c, mode, burst(apart * time.Millisecond)})
			}
		}
	}
	for i, o := range Bench(t.Context(), jobs, envoys, nil) {
		t.Run(fmt.Sprint(i, " ", o.Mode), func(t *testing.T) {
			t.Log(o.Result)
			if err := errors.Join(o.Err, o.Result.Err); err != nil {
				t.Fatal(err)
			}
			if s := o.Symptoms(); len(s) > 0 {
				t.Errorf("Envoy shows %s", words(s))
			}
		})
	}
}

func burst(apart time.Duration) runner {
	return func(ctx context.Context, c *Case, m Mode) (*Result, error) {
		tracker := apply.NewTracker()
		r, err := open(ctx, c, m, newRecorder(tracker))
		if err != nil {
			return nil, err
		}
		defer r.close()
		var all []*cachev3.Snapshot
		for i := range 5 {
			s, err := r.coloured(ctx, i)
			if err != nil {
				return nil, err
			}
			all = append(all, s)
		}
		d := &driver{run: r, tracker: tracker}
		var took time.Duration
		result, err := r.transit(ctx, targets(r.before, r.after, c.Follow), func() (err error) {
			took, err = d.burst(ctx, all, apart)
			return err
		})
		if err == nil && took > late+roundTrips*inTurn*result.Stalled {
			err = fmt.Errorf("the last push, %s after the one before, took %s", apart, took)
		}
		return result, err
	}
}

// roundTrips is how many of a push can each take longer where the machine stalls.
const roundTrips = 5

// burst returns how long the last push took.
func (d *driver) burst(ctx context.Context, all []*cachev3.Snapshot, apart time.Duration) (time.Duration, error) {
	var pushes []*apply.Push
	for i, s := range all {
		if i > 0 {
			time.Sleep(apart)
		}
		pushes = append(pushes, d.begin(ctx, d.cp.cache, nil, s))
	}
	last := len(pushes) - 1
	began := time.Now()
	if err := pushes[last].Wait(); err != nil {
		return 0, err
	}
	took := time.Since(began)
	for i, p := range pushes[:last] {
		if err := p.Wait(); !errors.Is(err, apply.ErrSuperseded) {
			return 0, fmt.Errorf("push %d: %v", i+1, err)
		}
	}
	return took, nil
}

// coloured is the old snapshot of blue-green in another colour.
func (r *run) coloured(ctx context.Context, i int) (*cachev3.Snapshot, error) {
	texts := map[string][]byte{}
	paths, err := filepath.Glob("../../testdata/transitions/blue-green/old/*.yaml")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		texts[filepath.Base(path)] = []byte(strings.NewReplacer("shop-blue", fmt.Sprint("shop-", i), "10.0.1.1", fmt.Sprint("10.0.3.", i+1)).Replace(string(text)))
	}
	in, err := load.Texts(ctx, texts, load.Options{})
	if err != nil {
		return nil, err
	}
	r.place.listenIn(in.Snapshots[0])
	h, err := r.place.half(in.Snapshots[0], fmt.Sprint("colour-", i))
	if err != nil {
		return nil, err
	}
	return h.pushed, nil
}
