package apply

import (
	"slices"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/plan"
)

// drain is a drain that a run began and whose end has not been observed.
type drain struct {
	plan.Drain
	listeners []string // that began it
	until     time.Time
	started   bool // Envoy has ACKed what begins it, so that its time runs
	session   *session
	phase     int // from 0
}

// drains lists what the current phase begins to drain.
func (r *run) drains() []drain {
	phase, later := r.made.Phases[r.phase], r.made.Phases[r.phase+1:]
	needs := r.needs(later)
	listeners := listenersOf(phase)
	waits := slices.Clone(phase.Wait)
	if len(listeners) > 0 { // the wait for the end of a drain can be in a later phase than its beginning
		for _, p := range later {
			waits = append(waits, p.Wait...)
		}
	}
	var all []drain
	for _, w := range waits {
		if isDrain(w) {
			all = append(all, drain{
				Drain: plan.Drain{Wait: w, Needs: needs}, listeners: listeners, until: time.Now().Add(w.Timeout),
				started: len(listeners) == 0, session: r.session, phase: r.phase,
			})
		}
	}
	return all
}

// needs lists what must stay as it is until a drain is over: all that later phases remove, and what they change after the drain.
func (r *run) needs(later []plan.Phase) []plan.Resource {
	var needs []plan.Resource
	drained := slices.ContainsFunc(r.made.Phases[r.phase].Wait, isDrain)
	for _, p := range later {
		for _, send := range p.Send {
			for _, name := range send.Remove {
				needs = append(needs, plan.Resource{Kind: send.Kind, Name: name})
			}
			for _, u := range send.Update {
				if t, err := typeOf(send.Kind); err == nil && drained && r.has(t, u.Name) {
					needs = append(needs, plan.Resource{Kind: send.Kind, Name: u.Name})
				}
			}
		}
		drained = drained || slices.ContainsFunc(p.Wait, isDrain)
	}
	return needs
}

func isDrain(w plan.Wait) bool { return w.For != plan.ACK }

// listenersOf lists the listeners that a phase adds, changes or removes.
func listenersOf(phase plan.Phase) []string {
	var names []string
	for _, send := range phase.Send {
		if send.Kind == graph.Listener {
			for _, u := range send.Update {
				names = append(names, u.Name)
			}
			names = append(names, send.Remove...)
		}
	}
	return names
}

// drain records what begins to drain, once for each wait.
func (n *node) drain(begun []drain) {
	for _, d := range begun {
		i := slices.IndexFunc(n.draining, func(known drain) bool { return sameWait(known.Wait, d.Wait) })
		if i < 0 {
			n.draining = append(n.draining, d)
			continue
		}
		known := &n.draining[i]
		known.listeners = slices.Concat(known.listeners, d.listeners)
		known.Needs = slices.Concat(known.Needs, d.Needs)
		if len(d.listeners) > 0 {
			known.Wait, known.until, known.started = d.Wait, d.until, false
		}
	}
}

// closing is how much longer than the drain time a busy Envoy can take until it has closed the last filter chain. 0.12 s were seen where each
// processor had 25 threads to run.
const closing = time.Second

// startClocks begins to count the drain time of all listeners of a phase, which has been ACKed.
func (r *run) startClocks(phase plan.Phase) {
	listeners := listenersOf(phase)
	r.lock(func(n *node) {
		n.startClocks(func(d *drain) bool {
			return slices.ContainsFunc(d.listeners, func(name string) bool { return slices.Contains(listeners, name) })
		})
	})
}

func (n *node) startClocks(which func(*drain) bool) {
	for i := range n.draining {
		if d := &n.draining[i]; which(d) {
			d.until, d.started = time.Now().Add(d.Wait.Timeout+closing), true
		}
	}
}

// left is how much longer a drain can take.
func (d drain) left() time.Duration {
	if !d.started {
		return d.Wait.Timeout + closing
	}
	return time.Until(d.until)
}

// deadline is when a wait has taken too long. For the end of a drain, that depends on when the drain began.
func (r *run) deadline(w plan.Wait) time.Time {
	until := time.Now().Add(w.Timeout)
	r.lock(func(n *node) {
		if i := slices.IndexFunc(n.draining, func(d drain) bool { return sameWait(d.Wait, w) }); i >= 0 && w.For != plan.ACK {
			until = n.draining[i].until
		}
	})
	return until
}

func sameWait(a, b plan.Wait) bool {
	return a.For == b.For && a.Kind == b.Kind && slices.Equal(a.Names, b.Names)
}

// undrain forgets what a phase would have drained if Envoy had not rejected it.
func (r *run) undrain() {
	r.lock(func(n *node) {
		n.draining = slices.DeleteFunc(n.draining, func(d drain) bool { return d.session == r.session && d.phase == r.phase })
	})
}

// prune drops the drains that are over: those that wait for Envoy to unsubscribe when it has, the others when their time has passed.
func (n *node) prune() {
	n.draining = slices.DeleteFunc(n.draining, func(d drain) bool {
		if d.Wait.For == plan.Unsubscribe && n.connected() {
			return !n.asksAny(d.Wait)
		}
		return d.left() <= 0
	})
}

// inherited lists the drains of earlier plans that this plan has to wait for. If a resource refers to a name again, Envoy requests it for
// that reason too, so that only the drain time shows the end.
func (r *run) inherited(draining []drain) []plan.Drain {
	var all []plan.Drain
	for _, d := range draining {
		referred, left := r.referred(d.Wait.Kind), d.left()
		if d.Wait.For == plan.Unsubscribe && slices.ContainsFunc(d.Wait.Names, func(name string) bool { return referred[name] }) {
			if len(d.listeners) > 0 {
				left -= max(0, min(r.ackTimeout(), d.Wait.Timeout-r.drainTime()))
			}
			d.Wait = plan.Wait{For: plan.Drained, Kind: graph.Listener, Names: d.listeners}
		}
		if d.Wait.For == plan.Drained {
			if d.Wait.Timeout = left; left <= 0 {
				continue
			}
		}
		all = append(all, d.Drain)
	}
	return all
}

// ended drops the drains whose end a wait has observed.
func (n *node) ended(w plan.Wait) {
	n.draining = slices.DeleteFunc(n.draining, func(d drain) bool {
		other := func(name string) bool { return !slices.Contains(w.Names, name) }
		return d.Wait.For == w.For && d.Wait.Kind == w.Kind && !slices.ContainsFunc(d.Wait.Names, other)
	})
}
