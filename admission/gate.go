// Package admission keeps what would break a data plane from being pushed to it. A Gate stands in front of go-control-plane's
// SnapshotCache; the packages below judge over HTTP and for Kubernetes.
//
// A gate that is too strict is an outage of its own. So this one looks at new errors only: what was wrong in the snapshot that a node has
// never keeps the next one from it, and neither does what is only presumed to be wrong, or a rule that fails.
package admission

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/target"
)

// Policy is what becomes of a snapshot in which there are new errors.
type Policy uint8

// The policies. Where the errors of one snapshot call for several, the strictest holds: Block, then Quarantine.
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
	Target      target.Target     // zero: the newest Envoy
	Bootstrap   *graph.Snapshot   // that the nodes start with, from load.Paths: what it has can be referred to. nil: not known
	Assumptions graph.Assumptions // what exists elsewhere
	Policy      Policy
	Policies    []RulePolicy // for the errors of single rules; the last one that matches holds
	// Hazards finds what breaks on the way from one snapshot to the next, as plan.Hazards does. Its errors count like those of rules. nil: nobody looks.
	Hazards func(before, after *graph.Snapshot) *lint.Result
	// Push gives a snapshot to a node, as apply.Run does. It may be called while an earlier call for the node has not returned.
	// nil: the cache's SetSnapshot.
	Push func(ctx context.Context, node string, snapshot cachev3.ResourceSnapshot) error
	// Deadline of judging one snapshot; 0: 5 s. What is not judged by then goes out as it is, or, with FailClosed, not at all.
	Deadline   time.Duration
	FailClosed bool
	// Report is called with each decision, before the push. It must not call the gate.
	Report  func(Decision)
	Metrics prometheus.Registerer // nil: none
	Log     *slog.Logger          // nil: nothing is logged
}
