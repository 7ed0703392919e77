package apply

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/plan"
)

// start finds out what the Envoys have, plans, and carries the plan out.
func (r *run) start(ctx context.Context, before cachev3.ResourceSnapshot) error {
	if former := r.session.former; former != nil {
		<-former.ended
		r.session.former = nil
	}
	if err := context.Cause(ctx); err != nil {
		return err
	}
	held, err := r.cache.GetSnapshot(r.key)
	switch {
	case err == nil && !gocp.None(held):
		before = held
	case gocp.None(before):
		next, err := gocp.Snapshot(r.target)
		if err != nil {
			return err
		}
		return r.first(ctx, next)
	default:
		r.lock(func(n *node) { n.resumes = true })
	}
	now, err := gocp.Snapshot(before)
	if err != nil {
		return err
	}
	next, err := gocp.Update(now, r.target)
	if err != nil {
		return err
	}
	r.know(now)
	r.state = stateOf(before)
	r.cached, r.saved = r.state, r.state
	if err := r.resume(ctx, now); err != nil {
		return err
	}
	if err := r.prepare(now, next); err != nil {
		return err
	}
	return r.run(ctx)
}

// first sends everything at once: a part of the types would make an Envoy that had another control plane before drop the rest. If that
// fails, the cache keeps it, since there is nothing to return to.
func (r *run) first(ctx context.Context, next *graph.Snapshot) error {
	r.know(next)
	phase := everything(next)
	phase.Why = "The node has no resources yet, so nothing can break."
	for _, kind := range []graph.Kind{graph.Cluster, graph.Listener} {
		if names := next.Names(kind); len(names) > 0 {
			phase.Wait = append(phase.Wait, r.ackOf(kind, names))
		}
	}
	r.state = stateOf(r.target)
	if err := r.begin(ctx, phase); err != nil {
		return err
	}
	var connected bool
	r.lock(func(n *node) { connected = n.connected() })
	if connected {
		if err := r.attend(ctx, phase); err != nil {
			return err
		}
	} else {
		r.tell(Event{Step: Absent})
	}
	if err := r.release(ctx); err != nil {
		return err
	}
	r.tell(Event{Step: Done})
	return r.finish(ctx)
}

// leftovers are the drains that may be under way when a control plane starts again: a resource to which no listener leads, and per-route
// configuration of a filter that no listener has, were perhaps kept for connections that drain.
func (r *run) leftovers(n *node, s *graph.Snapshot) []drain {
	listeners := s.Names(graph.Listener)
	w := plan.Wait{For: plan.Drained, Kind: graph.Listener, Names: listeners, Timeout: r.drainTime()}
	d := drain{Drain: plan.Drain{Wait: w}, listeners: listeners, until: time.Now().Add(w.Timeout), started: true, phase: -1}
	incremental := cmp.Or(r.Plan.Push.Transport, n.transport()).Incremental()
	for _, kept := range s.Resources {
		if len(listeners) > 0 && envoy.Drops(kept.Kind, incremental) && !s.Serves(kept) {
			d.Needs = append(d.Needs, plan.Resource{Kind: kept.Kind, Name: kept.Name})
		}
	}
	for table := range envoy.UnreadFilterConfigs(s) {
		_, stays := r.target.GetResources(graph.TypeURL(table.Kind))[table.Name]
		if len(listeners) > 0 && stays {
			d.Needs = append(d.Needs, plan.Resource{Kind: table.Kind, Name: table.Name})
		}
	}
	if len(d.Needs) == 0 {
		return nil
	}
	return []drain{d}
}

// resume gives Envoys what an earlier control plane was sending when it ended, and waits until they have it: the next plan begins there.
func (r *run) resume(ctx context.Context, now *graph.Snapshot) error {
	var due bool
	if r.lock(func(n *node) { due = n.resumes }); !due {
		return nil
	}
	phase := everything(now)
	phase.Why = "The control plane was restarted, so its Envoys first get what they had or were about to get."
	empty, err := gocp.Snapshot(&cachev3.Snapshot{})
	if err != nil {
		return err
	}
	for _, p := range plan.Make(graph.Diff(empty, now), r.Plan).Phases { // it knows what each Envoy requests
		phase.Wait = slices.Concat(phase.Wait, slices.DeleteFunc(p.Wait, func(w plan.Wait) bool { return w.For != plan.ACK }))
	}
	err = r.begin(ctx, phase)
	if err == nil {
		err = r.virtualHosts(ctx, now)
	}
	if err == nil {
		err = r.attend(ctx, phase)
	}
	if err == nil {
		err = r.endpointsAgain(ctx, now)
	}
	var nack *NackError
	if err == nil || errors.As(err, &nack) { // what Envoy rejects now it will reject again
		r.lock(func(n *node) {
			n.resumes = false
			n.draining = append(n.draining, r.leftovers(n, now)...)
		})
	}
	if err == nil {
		r.tell(Event{Step: Done})
	}
	return err
}

// endpointsAgain sends endpoints once more over SotW. An Envoy that takes a changed cluster waits for its endpoints again, and
// they may have been sent before it. Over Delta, what was kept has endpoints that differ from those before.
func (r *run) endpointsAgain(ctx context.Context, now *graph.Snapshot) error {
	names := now.Names(graph.ClusterLoadAssignment)
	if len(names) == 0 {
		return nil
	}
	if err := r.push(ctx, types.Endpoint, true); err != nil {
		return err
	}
	return r.wait(ctx, r.ackOf(graph.ClusterLoadAssignment, names))
}

// virtualHosts waits until each Envoy requests virtual hosts again. It does so on a separate stream, which can come later than the others. What
// only connections that drained can have requested, it may no longer request.
func (r *run) virtualHosts(ctx context.Context, now *graph.Snapshot) error {
	w := r.ackOf(graph.VirtualHost, nil)
	for _, host := range now.All(graph.VirtualHost) {
		if now.Serves(host) {
			w.Names = append(w.Names, host.Name)
		}
	}
	if len(w.Names) == 0 {
		return nil
	}
	limited, cancel := context.WithTimeoutCause(ctx, w.Timeout, errLate)
	defer cancel()
	err := r.await(limited, func() bool {
		n := r.session.node
		all := len(n.clients(urls[types.Cluster]))
		return all > 0 && len(n.clients(urls[types.VirtualHost])) >= all
	})
	if errors.Is(err, errLate) {
		return r.late(w)
	}
	return err
}

// begin makes a phase a plan, and puts all that it sends into the cache at once.
func (r *run) begin(ctx context.Context, phase plan.Phase) error {
	r.made = &plan.Plan{Phases: []plan.Phase{phase}}
	r.tell(Event{Step: Begun, Snapshot: r.state.snapshot()})
	for i := range r.state {
		t := types.ResponseType(i)
		referred := r.referred(kinds[t])
		r.lock(func(n *node) {
			all := &r.state[t]
			// An Envoy that names the version of the cache is sent nothing, and what a control plane kept can be newer than its version.
			if len(all.Items) > 0 && (all.Version == "" || n.resumes || n.knows(urls[t], all.Version)) {
				all.Version = r.fresh(t, all.Version)
			}
			r.cached[t] = cachev3.Resources{Version: all.Version, Items: r.offer(t, referred, all.Items)}
			r.session.pushed[version{urls[t], all.Version}] = 1
		})
	}
	for _, send := range phase.Send {
		if t, err := typeOf(send.Kind); err == nil {
			r.lock(func(n *node) { n.unsettled.add(t, send) })
		}
	}
	if err := r.set(ctx); err != nil {
		return err
	}
	r.heat(phase)
	r.tell(Event{Step: Pushed})
	return nil
}

// everything sends all resources of a snapshot.
func everything(s *graph.Snapshot) plan.Phase {
	var phase plan.Phase
	for _, kind := range plan.Types() {
		send := plan.Send{Kind: kind}
		for _, resource := range s.All(kind) {
			send.Update = append(send.Update, plan.Update{Name: resource.Name, Content: plan.New, Message: resource.Message})
		}
		if len(send.Update) > 0 {
			phase.Send = append(phase.Send, send)
		}
	}
	return phase
}

func (r *run) ackOf(kind graph.Kind, names []string) plan.Wait {
	return plan.Wait{For: plan.ACK, Kind: kind, Names: names, Timeout: r.ackTimeout()}
}

func (r *run) ackTimeout() time.Duration { return cmp.Or(r.Plan.AckTimeout, plan.DefaultAckTimeout) }

func (r *run) drainTime() time.Duration { return cmp.Or(r.Plan.DrainTime, plan.DefaultDrainTime) }
