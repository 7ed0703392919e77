package admission

import (
	"fmt"
	"strings"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// Outcome is what the gate did with a snapshot.
type Outcome string

// The outcomes.
const (
	Admitted    Outcome = "admitted"    // it does not have new errors, and is pushed
	Observed    Outcome = "observed"    // it has new errors, and is pushed
	Quarantined Outcome = "quarantined" // a part of it is pushed
	Blocked     Outcome = "blocked"     // nothing of it is pushed
)

// Decision is what the gate found in a snapshot, and what it does with the snapshot.
type Decision struct {
	Node     string
	Outcome  Outcome
	New      []lint.Diagnostic // the new errors, redacted
	Known    int               // the number of errors that the node's snapshot already has
	Withheld []Withheld        // set if Outcome is Quarantined; by type and name
	Failures []*lint.Failure   // rules that panicked: what they would have found is not known
	TimedOut bool              // the snapshot, or a part of it, was not judged in time
	// Rejected is the error of the former call of Options.Push with this snapshot, a Rejection: this decision is about the rest. nil: there is none.
	Rejected error
	// Snapshot is what is pushed: the one that was given, unless a part of it is withheld; nil if nothing is pushed.
	Snapshot cachev3.ResourceSnapshot
	// Err is a panic outside of rules: in Hazards, or in the gate itself. The snapshot is then pushed without what was known to be broken by
	// then.
	Err error
}

// Withheld is a resource that is not pushed as the new snapshot has it.
type Withheld struct {
	Kind graph.Kind
	Name string
	How  Way
	Why  string // a clause without a full stop
}

// Way is how a resource is withheld.
type Way string

// The ways.
const (
	Kept    Way = "keeps its version"   // the node keeps an earlier version
	LeftOut Way = "is left out"         // the node does not have it, or nothing that the node has still refers to it
	Held    Way = "is not removed, yet" // the new snapshot does not have it, but the node keeps it
)

func (w Withheld) String() string {
	return fmt.Sprintf("%s %q %s: %s", w.Kind, words.Short(w.Name), w.How, w.Why)
}

// BlockedError means that the gate does not push a snapshot at all. The node keeps what it has.
type BlockedError struct{ Decision Decision }

func (e *BlockedError) Error() string {
	d := &e.Decision
	where := fmt.Sprintf("node %q keeps what it has: ", words.Short(d.Node))
	switch {
	case len(d.New) == 0 && d.Rejected != nil:
		return where + d.Rejected.Error()
	case len(d.New) == 0:
		return where + "the new snapshot was not judged in time"
	case len(d.New) == 1:
		return where + text(&d.New[0])
	case len(d.New) == 2:
		return where + text(&d.New[0]) + " (and 1 more error)"
	}
	return where + fmt.Sprintf("%s (and %d more errors)", text(&d.New[0]), len(d.New)-1)
}

// Unwrap returns Decision.Rejected.
func (e *BlockedError) Unwrap() error { return e.Decision.Rejected }

// text formats a finding on one line.
func text(d *lint.Diagnostic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q", d.Resource.Kind, words.Short(d.Resource.Name))
	if at := d.Path.String(); at != "" {
		fmt.Fprintf(&b, ", %s", words.Short(at))
	}
	fmt.Fprintf(&b, ": %s [%s]", d.Message, d.Rule.ID())
	return b.String()
}
