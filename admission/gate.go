// Package admission keeps what would break a data plane from being pushed to it. A Gate stands in front of go-control-plane's
// SnapshotCache; the packages below judge over HTTP and for Kubernetes.
//
// A gate that is too strict is an outage of its own. So this one looks at new errors only: what was wrong in the snapshot that a node has
// never keeps the next one from it, and neither does what is only presumed to be wrong, or a rule that fails.
package admission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/lint"
)

// Policy is what becomes of a snapshot in which there are new errors.
type Policy uint8

// The policies. Where the errors of one snapshot call for several, Block comes before Quarantine, and that before Observe.
const (
	Observe    Policy = iota // it goes out as it is; the errors are reported
	Block                    // the node keeps all that it has
	Quarantine               // resources with new errors, and what cannot live without them, stay as they are; the rest goes out
)

// RulePolicy is the policy for the errors of some rules.
type RulePolicy struct {
	Selector string // as Rule.Match takes it: "reference", "schema/*", "listener/duplicate-address"
	Policy   Policy
}

// Options of a Gate. Only Rules must be given.
type Options struct {
	Rules       []*lint.Rule      // that judge, such as rules.All()
	Target      dataplane.Target  // zero: the newest Envoy
	Bootstrap   *graph.Snapshot   // that the nodes start with, from load.Paths: what it has can be referred to. nil: not known
	Assumptions graph.Assumptions // what exists elsewhere
	Policy      Policy
	Policies    []RulePolicy // for the errors of single rules; the last one that matches holds
	// Hazards finds what breaks on the way from one snapshot to the next, as plan.Hazards does. Its errors count like those of rules. It is
	// not called for the first snapshot of a node. nil: nobody looks.
	Hazards func(before, after *graph.Snapshot) *lint.Result
	// Push gives a snapshot to a node, as apply.Run does: it sets it in the cache, not in the gate. When a later snapshot for the node goes
	// out, the ctx of an earlier call that has not returned is cancelled, with ErrSuperseded as its cause. nil: the cache's SetSnapshot.
	Push func(ctx context.Context, node string, snapshot cachev3.ResourceSnapshot) error
	// Deadline of judging one snapshot; 0: DefaultDeadline. What is not judged by then goes out, without what is known by then to be
	// broken; or, with FailClosed, not at all.
	Deadline   time.Duration
	FailClosed bool
	// Report is called with each decision, before the push; for several nodes at the same time. It must neither set nor clear a snapshot of
	// the gate: the node's turn ends when it returns.
	Report  func(Decision)
	Metrics prometheus.Registerer // nil: none
	Log     *slog.Logger          // nil: nothing is logged
}

// DefaultDeadline is how long judging a snapshot may take where Options say nothing else.
const DefaultDeadline = 5 * time.Second

// ErrSuperseded is why the context of a push ends when a newer snapshot for its node goes out.
var ErrSuperseded = errors.New("a newer snapshot for the same node goes out")

// Gate is a SnapshotCache that judges what is set. All nodes are judged at the same time, the snapshots of one node in turn. Neither a
// snapshot nor its messages may be changed once they were given to it.
type Gate struct {
	cachev3.SnapshotCache
	options   Options
	bootstrap bootstrap
	metrics   *metrics

	mu    sync.Mutex
	nodes map[string]*node
}

var _ cachev3.SnapshotCache = (*Gate)(nil)

// New makes a gate in front of a cache. Nothing else should set snapshots there: the gate has to judge once more what it finds and did not set.
// It is an error if there are no rules, if a selector matches none, or if the metrics cannot be registered.
func New(cache cachev3.SnapshotCache, options Options) (*Gate, error) {
	if cache == nil {
		return nil, errors.New("admission.New: there is no cache")
	}
	if len(options.Rules) == 0 {
		return nil, errors.New("admission.Options has no Rules")
	}
	for _, p := range options.Policies {
		if err := config.CheckSelector(p.Selector, options.Rules); err != nil {
			return nil, fmt.Errorf("admission.Options.Policies: %w", err)
		}
	}
	if t := options.Target; t != (dataplane.Target{}) && !slices.Contains(dataplane.All(), t) {
		return nil, fmt.Errorf("admission.Options.Target: %s is not known", t)
	}
	if options.Deadline < 0 {
		return nil, errors.New("admission.Options.Deadline is negative")
	}
	options.Deadline = cmp.Or(options.Deadline, DefaultDeadline)
	boot, err := bootstrapOf(options.Bootstrap)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(options.Metrics)
	if err != nil {
		return nil, err
	}
	return &Gate{SnapshotCache: cache, options: options, bootstrap: boot, metrics: m, nodes: map[string]*node{}}, nil
}

// SetSnapshot judges a snapshot against what the node has, and pushes it, or what Options.Policy leaves of it. It returns a *BlockedError if
// nothing of it goes out, the error of the push, or why ctx ended before there was one. Quarantine is no error: Options.Report, the log and
// the metrics tell what was withheld.
func (g *Gate) SetSnapshot(ctx context.Context, node string, snapshot cachev3.ResourceSnapshot) error {
	if gocp.None(snapshot) {
		return errors.New("there is no snapshot")
	}
	n := g.node(node)
	defer g.release(node, n)
	push, err := g.admit(ctx, node, n, snapshot)
	if err != nil || push == nil {
		return err
	}
	return push()
}

// admit takes the node's turn to decide, and to give it what goes out: at once, or, with a driver, by the push that it returns. A driver takes its
// time, and a later snapshot need not wait for it.
func (g *Gate) admit(ctx context.Context, name string, n *node, snapshot cachev3.ResourceSnapshot) (push func() error, err error) {
	if err := n.take(ctx); err != nil {
		return nil, err
	}
	defer n.yield() // also where Report or the cache panics
	decision, out, err := g.decide(ctx, name, n, snapshot)
	if err != nil {
		return nil, err
	}
	g.tell(decision, snapshot)
	if decision.Outcome == Blocked {
		return nil, &BlockedError{decision}
	}
	n.base = out
	if g.options.Push == nil {
		return nil, g.SnapshotCache.SetSnapshot(ctx, name, decision.Snapshot)
	}
	ctx, done := n.start(ctx)
	return func() error {
		defer done()
		return g.options.Push(ctx, name, decision.Snapshot)
	}, nil
}

// ClearSnapshot forgets what the node has, as the cache does: for its next snapshot, all errors are new. The context of an Options.Push that is
// under way for the node is cancelled.
func (g *Gate) ClearSnapshot(node string) {
	n := g.node(node)
	defer g.release(node, n)
	_ = n.take(context.Background()) // which does not end
	defer n.yield()
	n.stop(nil)
	n.base, n.world = nil, world{}
	g.SnapshotCache.ClearSnapshot(node)
}

// policy for an error.
func (o *Options) policy(rule *lint.Rule) Policy {
	policy := o.Policy
	for _, p := range o.Policies {
		if rule.Match(p.Selector) {
			policy = p.Policy
		}
	}
	return policy
}
