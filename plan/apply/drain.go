package apply

import (
	"slices"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/plan"
)

// drain is one that a run began, as long as nothing has shown its end.
type drain struct {
	plan.Drain
	listeners []string // that began it
	until     time.Time
	session   *session
	phase     int // from 0
}

// drains lists what the present phase begins to drain, and what must be there until it is over: all that later phases remove.
func (r *run) drains() []drain {
	phase, later := r.made.Phases[r.phase], r.made.Phases[r.phase+1:]
	var needs []plan.Resource
	for _, p := range later {
		for _, send := range p.Send {
			for _, name := range send.Remove {
				needs = append(needs, plan.Resource{Kind: send.Kind, Name: name})
			}
		}
	}
	var listeners []string
	for _, send := range phase.Send {
		if send.Kind == graph.Listener {
			for _, u := range send.Update {
				listeners = append(listeners, u.Name)
			}
			listeners = append(listeners, send.Remove...)
		}
	}
	waits := slices.Clone(phase.Wait)
	if len(listeners) > 0 { // the end of a drain can stand in a later phase than its beginning
		for _, p := range later {
			waits = append(waits, p.Wait...)
		}
	}
	var all []drain
	for _, w := range waits {
		if w.For != plan.ACK {
			all = append(all, drain{plan.Drain{Wait: w, Needs: needs}, listeners, time.Now().Add(w.Timeout), r.session, r.phase})
		}
	}
	return all
}

// drain notes what begins to drain, once for each wait.
func (n *node) drain(begun []drain) {
	for _, d := range begun {
		i := slices.IndexFunc(n.draining, func(known drain) bool {
			return known.Wait.For == d.Wait.For && known.Wait.Kind == d.Wait.Kind && slices.Equal(known.Wait.Names, d.Wait.Names)
		})
		if i < 0 {
			n.draining = append(n.draining, d)
			continue
		}
		known := &n.draining[i]
		known.listeners = slices.Concat(known.listeners, d.listeners)
		known.Needs = slices.Concat(known.Needs, d.Needs)
		if d.until.After(known.until) {
			known.until = d.until
		}
	}
}

// undrain forgets what a phase would have drained if Envoy had not refused it.
func (r *run) undrain() {
	r.lock(func(n *node) {
		n.draining = slices.DeleteFunc(n.draining, func(d drain) bool { return d.session == r.session && d.phase == r.phase })
	})
}

// prune leaves out what is over: what is asked for lasts until nobody asks, all else for its time.
func (n *node) prune() {
	now := time.Now()
	n.draining = slices.DeleteFunc(n.draining, func(d drain) bool {
		if d.Wait.For == plan.Unsubscribe && n.connected() {
			return !n.asksAny(d.Wait)
		}
		return !d.until.After(now)
	})
}

// inherited is what the plan has to wait for since an earlier one began it. What something refers to again is asked for on that account
// too: then only time tells.
func (r *run) inherited(draining []drain) []plan.Drain {
	var all []plan.Drain
	for _, d := range draining {
		referred := r.referred(d.Wait.Kind)
		if d.Wait.For == plan.Unsubscribe && slices.ContainsFunc(d.Wait.Names, func(name string) bool { return referred[name] }) {
			d.Wait = plan.Wait{For: plan.Drained, Kind: graph.Listener, Names: d.listeners}
		}
		if d.Wait.For == plan.Drained {
			if d.Wait.Timeout = time.Until(d.until); d.Wait.Timeout <= 0 {
				continue
			}
		}
		all = append(all, d.Drain)
	}
	return all
}

// ended leaves out what a wait has seen the end of.
func (n *node) ended(w plan.Wait) {
	n.draining = slices.DeleteFunc(n.draining, func(d drain) bool {
		return d.Wait.For == w.For && d.Wait.Kind == w.Kind && !slices.ContainsFunc(d.Wait.Names, func(name string) bool { return !slices.Contains(w.Names, name) })
	})
}
