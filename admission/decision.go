package admission

import (
	"fmt"
	"strings"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// Outcome is what became of a snapshot.
type Outcome string

// The outcomes.
const (
	Admitted    Outcome = "admitted"    // it has no new error, and goes out
	Observed    Outcome = "observed"    // it has new errors, and goes out
	Quarantined Outcome = "quarantined" // a part of it goes out
	Blocked     Outcome = "blocked"     // nothing of it goes out
)

// Decision is what the gate thinks of a snapshot, and what it does with it.
type Decision struct {
	Node     string
	Outcome  Outcome
	New      []lint.Diagnostic // the new errors, without the secrets in their texts
	Known    int               // errors in the snapshot that the node has already
	Withheld []Withheld        // of Quarantined: by type and name
	Failures []*lint.Failure   // rules that panicked: what they had to say is not known
	TimedOut bool              // the snapshot was not judged in time, or not all of it
	// Snapshot is what goes out: the one that was given, unless a part of it is withheld; nil if nothing does.
	Snapshot cachev3.ResourceSnapshot
	// Err is a panic outside of rules, if there was one: in Hazards, or where judging broke off. The snapshot then goes out all the same, but
	// for what was known by then to be broken.
	Err error
}

// Withheld is a resource that a node does not get as its new snapshot has it.
type Withheld struct {
	Kind graph.Kind
	Name string
	How  Way
	Why  string // a sentence without its end
}

// Way is how a resource is withheld.
type Way string

// The ways.
const (
	Kept    Way = "keeps its version"   // the node has an earlier version, which stays
	LeftOut Way = "is left out"         // the node does not have it, or nothing that the node has refers to it any more
	Held    Way = "is not removed, yet" // the new snapshot does not have it
)

func (w Withheld) String() string { return fmt.Sprintf("%s %q %s: %s", w.Kind, w.Name, w.How, w.Why) }

// BlockedError says that nothing of a snapshot goes out. What the node has stays.
type BlockedError struct{ Decision Decision }

func (e *BlockedError) Error() string {
	d := &e.Decision
	where := fmt.Sprintf("node %q keeps what it has: ", d.Node)
	switch {
	case len(d.New) == 0:
		return where + "the new snapshot was not judged in time"
	case len(d.New) == 1:
		return where + text(&d.New[0])
	case len(d.New) == 2:
		return where + text(&d.New[0]) + " (and 1 more error)"
	}
	return where + fmt.Sprintf("%s (and %d more errors)", text(&d.New[0]), len(d.New)-1)
}

// text of a finding in one line.
func text(d *lint.Diagnostic) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %q", d.Resource.Kind, d.Resource.Name)
	if at := d.Path.String(); at != "" {
		fmt.Fprintf(&b, ", %s", at)
	}
	fmt.Fprintf(&b, ": %s [%s]", d.Message, d.Rule.ID())
	return b.String()
}
