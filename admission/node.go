package admission

import "context"

// node is what the gate knows of one node.
type node struct {
	users   int           // calls that are about it; Gate.mu guards it
	turn    chan struct{} // one call at a time is between take and yield, which guard all below
	judging chan struct{} // one goroutine judges; it can outlive its call

	base    *judged // what was pushed last, unless something has come between; nil: not known
	world   world   // what it ever had, or was to have, any of
	pushes  int     // calls of Options.Push that have not returned
	current context.CancelCauseFunc
}

// node that a call is about.
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

// release ends a call, and forgets a node of which there is nothing to know.
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

// start begins a push by a driver in place of the one that is under way. It is called in a turn, and done outside of one.
func (n *node) start(ctx context.Context) (_ context.Context, done func()) {
	n.stop(ErrSuperseded)
	ctx, n.current = context.WithCancelCause(ctx)
	cancel := n.current
	n.pushes++
	return ctx, func() {
		cancel(nil)
		_ = n.take(context.Background()) // which does not end
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

// enter waits until nobody judges the node any more: a goroutine that was given up may still do.
func (n *node) enter(ctx context.Context) bool {
	select {
	case n.judging <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}
