package transitions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"

	"github.com/xdslint/xdslint/admission"
	planes "github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// lasting is longer than the gap that a push leaves which is good in the end.
const lasting = time.Second

// plain pushes without a gate. That must do the harm that the case describes.
func (c *gateCase) plain(ctx context.Context, _ *Case, m Mode) (*Result, error) {
	r, err := open(ctx, c.Case, m, newRecorder(serverv3.CallbackFuncs{}))
	if err != nil {
		return nil, err
	}
	defer r.close()
	result, err := r.transit(ctx, targets(r.before, r.after, false), func() error {
		return errors.Join(r.cp.cache.SetSnapshot(ctx, node, r.after.pushed), r.retire(ctx, c.Retired))
	})
	if err != nil {
		return result, err
	}
	return result, c.harmed(result, r.astray(ctx, c.Answers))
}

// harmed returns an error if a push has not done the harm that the case describes.
func (c *gateCase) harmed(result *Result, astray map[string]string) (err error) {
	for _, s := range c.Shows {
		if !slices.Contains(result.Symptoms(), s) {
			err = errors.Join(err, fmt.Errorf("Envoy should show %s, and shows %s", s, words(result.Symptoms())))
		}
	}
	for _, request := range c.Lost {
		if astray[request] == "" {
			err = errors.Join(err, fmt.Errorf("%s is answered", request))
		}
	}
	if len(c.Lost) == 0 && result.LastFailure < lasting {
		err = errors.Join(err, fmt.Errorf("the last failure is %s after the push", result.LastFailure))
	}
	return err
}

// gated pushes through two gates: one that blocks, then one that quarantines. What the second one serves must also suffice for an Envoy that starts
// afterwards. In the end it gets the fixed snapshot.
func (c *gateCase) gated(ctx context.Context, _ *Case, m Mode) (*Result, error) {
	r, err := open(ctx, c.Case, m, newRecorder(serverv3.CallbackFuncs{}))
	if err != nil {
		return nil, err
	}
	defer r.close()
	var decision admission.Decision
	gate, err := r.gate(ctx, admission.Options{Policy: admission.Quarantine, Report: func(d admission.Decision) { decision = d }})
	if err != nil {
		return nil, err
	}
	result, err := r.transit(ctx, targets(r.before, r.after, false), func() error {
		if err := c.blocked(ctx, r); err != nil {
			return err
		}
		for range 2 { // the second time it is the same, and nothing goes out
			if err := errors.Join(gate.SetSnapshot(ctx, node, r.after.pushed), c.judged(&decision)); err != nil {
				return err
			}
		}
		return r.retire(ctx, c.Retired)
	})
	if err != nil {
		return result, err
	}
	if err := errors.Join(harm(result), r.answered(ctx, c.Answers)); err != nil {
		return result, err
	}
	if err := errors.Join(r.restart(ctx), r.answered(ctx, c.Answers)); err != nil || c.then == nil {
		return result, err
	}
	return result, c.fixed(ctx, r, gate)
}

// gate in front of the control plane's cache, which knows what Envoy was started with.
func (r *run) gate(ctx context.Context, options admission.Options) (*admission.Gate, error) {
	text, err := bootstrap(r.mode.Push.Transport, r.cp.proxy.port(), r.before.bootstrap)
	if err != nil {
		return nil, err
	}
	in, err := load.Texts(ctx, map[string][]byte{"bootstrap.json": []byte(text)}, load.Options{})
	if err != nil {
		return nil, err
	}
	options.Rules, options.Bootstrap, options.Target = rules.Builtin(), in.Snapshots[0], planes.Default()
	options.Deadline = time.Minute // on a busy machine with the race detector, some cases take longer than the default
	return admission.New(r.cp.cache, options)
}

// blocked reports whether a gate that blocks does not change what the cache serves.
func (c *gateCase) blocked(ctx context.Context, r *run) error {
	gate, err := r.gate(ctx, admission.Options{Policy: admission.Block})
	if err != nil {
		return err
	}
	var blocked *admission.BlockedError
	want := cachev3.ResourceSnapshot(r.before.pushed)
	err = gate.SetSnapshot(ctx, node, r.after.pushed)
	switch {
	case len(c.Withheld) == 0 && err != nil:
		return err
	case len(c.Withheld) == 0:
		want = r.after.pushed
	case !errors.As(err, &blocked):
		return fmt.Errorf("a gate that blocks returns %v", err)
	}
	if held, err := r.cp.cache.GetSnapshot(node); err != nil || held != want {
		return fmt.Errorf("after a gate that blocks the cache holds another snapshot: %v, %v", held, err)
	}
	return nil
}

// judged reports whether a decision withholds what the case says.
func (c *gateCase) judged(d *admission.Decision) error {
	var got []string
	for _, w := range d.Withheld {
		got = append(got, fmt.Sprintf("%s %s", w.Kind, w.Name))
	}
	want := slices.Sorted(slices.Values(c.Withheld))
	if slices.Sort(got); !slices.Equal(got, want) {
		return fmt.Errorf("%s, and withheld is\n%s\nwant\n%s", d.Outcome, strings.Join(got, ", "), strings.Join(want, ", "))
	}
	return nil
}

// fixed pushes the fixed snapshot. The gate must not withhold anything of it.
func (c *gateCase) fixed(ctx context.Context, r *run, gate *admission.Gate) error {
	r.place.listenIn(c.then)
	fixed, err := r.place.half(c.then, "fixed")
	if err != nil {
		return err
	}
	result, err := r.transit(ctx, targets(r.after, fixed, false), func() error { return gate.SetSnapshot(ctx, node, fixed.pushed) })
	if err != nil {
		return err
	}
	r.after = fixed
	err = errors.Join(harm(result), r.answered(ctx, c.Fixed))
	if held, _ := r.cp.cache.GetSnapshot(node); held != cachev3.ResourceSnapshot(fixed.pushed) {
		err = errors.Join(err, errors.New("the fixed snapshot does not go out as it is"))
	}
	if err != nil {
		return fmt.Errorf("fixed: %s: %w", result, err)
	}
	return nil
}

// harm is an error if anything went wrong, for a client or between Envoy and its control plane. How long a request takes is up to the machine.
func harm(r *Result) error {
	if s := slices.DeleteFunc(r.Symptoms(), func(s string) bool { return s == "slow" }); len(s) > 0 {
		return errors.Join(r.Err, fmt.Errorf("Envoy shows %s", words(s)))
	}
	return r.Err
}

// answered is an error if requests are not answered by whom they should be.
func (r *run) answered(ctx context.Context, want requests) (err error) {
	astray := r.astray(ctx, want)
	for _, request := range slices.Sorted(maps.Keys(astray)) {
		err = errors.Join(err, fmt.Errorf("%s: %s instead of %s", request, astray[request], want[request]))
	}
	return err
}

// astray are requests that are not answered by whom they should be, and what becomes of them.
func (r *run) astray(ctx context.Context, want requests) map[string]string {
	all := map[string]string{}
	for request, upstream := range want {
		if got := r.ask(ctx, request); got != upstream {
			all[request] = got
		}
	}
	return all
}

// ask sends a request and returns which upstream answers it, or what fails.
func (r *run) ask(ctx context.Context, request string) string {
	host, path, _ := strings.Cut(request, "/")
	a := ask{host: host, path: "/" + path}
	t := r.door(a)
	if t == nil {
		return "no route for it"
	}
	certificate, err := r.place.authority.pair("client")
	if err != nil {
		return err.Error()
	}
	got := newClient(nil, t, certificate, true).send(ctx, a)
	return got.failure + got.upstream
}

// door finds where to ask: a listener that moves, and is withheld, is where it was.
func (r *run) door(a ask) *target {
	for _, d := range append(r.before.doors(), r.after.doors()...) {
		if slices.Contains(d.asks, a) {
			return &target{[]string{d.addr}, d.tls, d.sni, d.asks}
		}
	}
	return nil
}

// restart puts another Envoy in the place of the one that is there.
func (r *run) restart(ctx context.Context) (err error) {
	r.envoy.Close()
	r.envoy, err = r.cp.serve(ctx, r.mode.Push.Transport, r.before.bootstrap)
	return err
}

// retire ends upstreams when Envoy has what it gets, as pods end that have been replaced.
func (r *run) retire(ctx context.Context, addresses []string) error {
	if len(addresses) == 0 {
		return nil
	}
	const quiet = 500 * time.Millisecond
	for began, last := time.Now(), time.Now(); time.Since(last) < quiet && time.Since(began) < late; time.Sleep(poll) {
		if !r.applied(ctx) {
			last = time.Now()
		}
	}
	for _, address := range addresses {
		r.place.upstreams[address].close()
	}
	return ctx.Err()
}

// poll is how often something that Envoy does by itself is looked at.
const poll = 50 * time.Millisecond

// admit pushes both snapshots of a case through a gate, without an Envoy, and returns the decisions by which something is wrong.
func admit(t *testing.T, c *Case) (objections []admission.Decision) {
	t.Helper()
	p, err := newPlace(lint.ADSSotW)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	before, after, err := p.halves(c, lint.PerType)
	if err != nil {
		t.Fatal(err)
	}
	cp, err := startControlPlane(newRecorder(serverv3.CallbackFuncs{}), lint.ADSSotW, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer cp.close()
	r := &run{mode: Mode{Push: lint.Push{Transport: lint.ADSSotW}}, before: before, cp: cp}
	gate, err := r.gate(t.Context(), admission.Options{Policy: admission.Quarantine, Report: func(d admission.Decision) {
		if len(d.New) > 0 || d.Outcome != admission.Admitted {
			objections = append(objections, d)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, half := range []*half{before, after} {
		if err := gate.SetSnapshot(t.Context(), node, half.pushed); err != nil {
			t.Fatal(err)
		}
	}
	return objections
}
