package admission

import "context"

// node is what the gate knows about one node.
type node struct {
	users   int           // number of calls that use it; guarded by Gate.mu
	turn    chan struct{} // one call at a time is between take and yield, which guard the fields below
	judging chan struct{} // held by the one goroutine that judges, which can outlive its call

	base    *candidate // what was pushed last, unless the cache was changed since; nil: not known
	world   world      // the types that it ever had or was to have
	number  int        // of the last push, or of the call that cleared the node
	pushes  int        // calls of Options.Push that have not returned
	current context.CancelCauseFunc
}

// node returns the node of a call, which must call release.
func (g *Gate) node(name string) *node {
	g.mu.Lock()
	defer g.mu.Unlock()
	n := g.nodes[name]
	if n == nil {
		n = &node{turn: make(chan struct{}, 1), judging: make(chan struct{}, 1)}
		g.nodes[name] = n
	}
	n.users++
	return n
}

// release ends a call, and forgets a node without a state.
func (g *Gate) release(name string, n *node) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if n.users--; n.users == 0 && n.base == nil && len(n.judging) == 0 {
		delete(g.nodes, name)
	}
}

func (n *node) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case n.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (n *node) yield() { <-n.turn }

// start begins a call of Options.Push in place of the one that is under way. Call start within a turn, and done outside of one.
func (n *node) start(ctx context.Context) (_ context.Context, done func()) {
	n.stop(ErrSuperseded)
	ctx, n.current = context.WithCancelCause(ctx)
	cancel := n.current
	n.pushes++
	return ctx, func() {
		cancel(nil)
		_ = n.take(context.Background()) // the context never ends
		if n.pushes--; n.pushes == 0 {
			n.current = nil
		}
		n.yield()
	}
}

// stop cancels the push that is under way.
func (n *node) stop(why error) {
	if n.current != nil {
		n.current(why)
	}
}

// enter waits until no goroutine judges the node: one that was given up may still do.
func (n *node) enter(ctx context.Context) bool {
	select {
	case n.judging <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
