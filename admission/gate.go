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

// Policy says what to do with a snapshot that has new errors.
type Policy uint8

// The policies. If the errors of one snapshot have several, Block takes precedence over Quarantine, and Quarantine over Observe.
const (
	Observe    Policy = iota // push the snapshot as it is, and report the errors
	Block                    // push nothing: the node keeps what it has
	Quarantine               // withhold resources with new errors, and those that depend on them; push the rest
)

// RulePolicy is the policy for the errors of selected rules.
type RulePolicy struct {
	Selector string // selects rules as Rule.Match does: "reference", "schema/*", "listener/duplicate-address"
	Policy   Policy
}

// Options configure a Gate. Only Rules is required.
type Options struct {
	Rules       []*lint.Rule      // the rules to judge by, such as rules.Builtin()
	Target      dataplane.Target  // zero: the newest Envoy
	GRPCEnv     map[string]string // environment variables of clients of gRPC, which switch features on or off
	Bootstrap   *graph.Snapshot   // the nodes' bootstrap, of Envoy or gRPC as Target says, from load.Paths: resources can refer to what it has. nil: not known
	Assumptions graph.Assumptions // what exists elsewhere
	Hash        cachev3.NodeHash  // the cache's; nil: cachev3.IDHash
	Policy      Policy
	Policies    []RulePolicy // for the errors of single rules; the last one that matches takes precedence
	// Hazards finds what breaks during the change from one snapshot to the next, as plan.Hazards does. Its errors count like those of
	// rules. It is not called for the first snapshot of a node. If it is nil, hazards are not checked.
	Hazards func(before, after *graph.Snapshot) *lint.Result
	// Push pushes a snapshot to a node, as apply.Run does: it sets the snapshot in the cache, not in the gate. When the gate pushes a later
	// snapshot for the node, it cancels the ctx of an earlier call that has not returned, with ErrSuperseded as the cause. If Push is nil,
	// the gate calls the cache's SetSnapshot. If its error is a Rejection and Policy is Quarantine, the gate withholds what was rejected, and
	// calls Push again with the rest.
	Push func(ctx context.Context, node string, snapshot cachev3.ResourceSnapshot) error
	// Pushed, if set, is called with the result of Push, in a goroutine of its own: SetSnapshot then returns when it has decided what is pushed,
	// and the push does not end with its ctx. ClearSnapshot and later snapshots still end it.
	Pushed func(node string, err error)
	// Deadline limits the time for judging one snapshot; 0 means DefaultDeadline. A change that is not judged by then is treated like a new
	// error, with Policy. If nothing is known, because a rule never returns or what the node has could not be judged either, the gate pushes the
	// snapshot without what it knows to be broken, or, with FailClosed, nothing. That is so for Hazards that do not return, too.
	Deadline   time.Duration
	FailClosed bool
	// Report is called with each decision before the push, possibly for several nodes at the same time. It must neither set nor clear a
	// snapshot of the gate: calls for the same node wait until it returns.
	Report  func(Decision)
	Metrics prometheus.Registerer // nil: no metrics
	Log     *slog.Logger          // nil: no log
}

// DefaultDeadline is the Deadline if Options do not set one.
const DefaultDeadline = 5 * time.Second

// ErrSuperseded is the cause with which the context of a push ends when a newer snapshot for its node is pushed.
var ErrSuperseded = errors.New("a newer snapshot for the same node is pushed")

// Gate is a SnapshotCache that judges each snapshot that is set. It judges snapshots of different nodes concurrently, and those of one node one
// after another. A snapshot and its messages must not be modified after SetSnapshot was called with it.
type Gate struct {
	cachev3.SnapshotCache
	options   Options
	bootstrap bootstrap
	metrics   *metrics

	mu    sync.Mutex
	nodes map[string]*node

	shared candidates
}

var _ cachev3.SnapshotCache = (*Gate)(nil)

// New returns a gate in front of a cache. Nothing else should set snapshots in the cache: the gate must judge again what it did not set itself.
// New returns an error if Options are not valid (no rules, a selector that matches no rule, an unknown target, a negative deadline, a bootstrap
// that cannot be read), or if the metrics cannot be registered.
func New(cache cachev3.SnapshotCache, options Options) (*Gate, error) {
	if cache == nil {
		return nil, errors.New("admission.New: there is no cache")
	}
	if len(options.Rules) == 0 {
		return nil, errors.New("admission.Options.Rules is empty")
	}
	for _, p := range options.Policies {
		if err := config.CheckSelector(p.Selector, options.Rules); err != nil {
			return nil, fmt.Errorf("admission.Options.Policies: %w", err)
		}
	}
	if t := options.Target; t != (dataplane.Target{}) && !slices.Contains(dataplane.All(), t) {
		return nil, fmt.Errorf("admission.Options.Target: unknown target %q", t)
	}
	if options.Deadline < 0 {
		return nil, errors.New("admission.Options.Deadline is negative")
	}
	options.Deadline = cmp.Or(options.Deadline, DefaultDeadline)
	if options.Hash == nil {
		options.Hash = cachev3.IDHash{}
	}
	boot, err := bootstrapOf(options.Bootstrap, options.Target)
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(options.Metrics)
	if err != nil {
		return nil, err
	}
	return &Gate{
		SnapshotCache: cache, options: options, bootstrap: boot, metrics: m, nodes: map[string]*node{},
	}, nil
}

// SetSnapshot judges a snapshot against what the node has, and pushes it, or the part that Options.Policy allows. It returns a *BlockedError if
// nothing is pushed, the error of the push, or the error of ctx if ctx ended before the push. Quarantine is not an error: Options.Report, the
// log and the metrics show what was withheld. With Options.Push, SetSnapshot returns when that does,
// which can take as long as connections drain; with Options.Pushed, it returns when it has decided.
func (g *Gate) SetSnapshot(ctx context.Context, node string, snapshot cachev3.ResourceSnapshot) error {
	if gocp.None(snapshot) {
		return errors.New("there is no snapshot")
	}
	p := &push{Gate: g, to: g.node(node), name: node, snapshot: snapshot}
	defer g.release(node, p.to)
	send, err := p.admit(ctx)
	if err != nil || send == nil {
		return err
	}
	if g.options.Pushed == nil {
		return p.finish(ctx, send)
	}
	g.node(node) // for the goroutine
	go func() {
		defer g.release(node, p.to)
		g.options.Pushed(node, p.finish(context.WithoutCancel(ctx), send))
	}()
	return nil
}

// ClearSnapshot removes the node's snapshot from the gate and the cache. All errors in the next snapshot are then new. It cancels the context
// of an Options.Push that is under way for the node.
func (g *Gate) ClearSnapshot(node string) {
	n := g.node(node)
	defer g.release(node, n)
	_ = n.take(context.Background()) // the context never ends
	defer n.yield()
	n.stop(nil)
	n.number++
	n.base, n.world = nil, world{}
	g.SnapshotCache.ClearSnapshot(node)
}

// policy returns the policy for the errors of a rule.
func (o *Options) policy(rule *lint.Rule) Policy {
	policy := o.Policy
	for _, p := range o.Policies {
		if rule.Match(p.Selector) {
			policy = p.Policy
		}
	}
	return policy
}
