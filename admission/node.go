package admission

import (
	"context"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
)

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

// push gives the node a snapshot and ends the turn. A driver takes its time, and a later snapshot need not wait for it.
func (g *Gate) push(ctx context.Context, name string, n *node, snapshot cachev3.ResourceSnapshot, out *judged) error {
	n.base = out
	if g.options.Push == nil {
		defer n.yield()
		return g.SnapshotCache.SetSnapshot(ctx, name, snapshot)
	}
	if n.current != nil {
		n.current(ErrSuperseded)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	n.current = cancel
	n.pushes++
	n.yield()
	defer func() {
		_ = n.take(context.Background())
		n.pushes--
		n.yield()
	}()
	return g.options.Push(ctx, name, snapshot)
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
