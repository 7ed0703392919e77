package transitions

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/xdslint/xdslint/plan/apply"
)

// Result is the outcome of a run.
type Result struct {
	Requests    int
	Failures    map[string]int // by status and flags, or as in Symptoms: refused, reset, timeout
	Slowest     time.Duration
	LastFailure time.Duration // after the push
	Drained     int           // connections that were closed though their clients kept them
	Stalled     time.Duration // the longest time in which this machine did nothing for the clients

	Nacks       []string      // as "type: message"
	Unacked     []string      // types with a response that was not answered in the end
	Undelivered []string      // resources whose content never reached Envoy
	Warming     int           // clusters and listeners, in the end
	Rebuilt     int           // clusters
	Crashed     bool          // Envoy did
	Applied     time.Duration // from the push to the last answer
	Err         error         // of the push

	Unanswered []string // requests that were left out, since the old snapshot does not answer them
}

func (r *Result) tally(t tally) {
	r.Requests, r.Failures, r.Slowest, r.Drained, r.LastFailure = t.requests, t.failures, t.slowest, t.reconnect, t.last
	r.Stalled = t.stalled
}

// Failed counts the failures of all kinds.
func (r *Result) Failed() int {
	sum := 0
	for _, n := range r.Failures {
		sum += n
	}
	return sum
}

// tooSlow is longer than any request takes if nothing goes wrong, and inTurn the number of programs that work for it one
// after the other: the client, Envoy, the control plane and the upstream. Where the machine stalls, each of them can.
const (
	tooSlow = time.Second
	inTurn  = 4
)

// Symptoms are what an observer would notice. Requests fail with a status and flags, such as "503 NC", or with one of refused, reset, timeout. The
// others are "slow" (no request failed, but one took long), "warming" (not applied 5 s after the push, or a plan gave up waiting), "undelivered",
// "NACK", "crash". The consequences of a NACK or a crash are not listed in addition to it.
func (r *Result) Symptoms() []string {
	if r.Crashed {
		return []string{"crash"}
	}
	all := slices.Sorted(maps.Keys(r.Failures))
	refused := len(r.Nacks) > 0
	for _, s := range []struct {
		name string
		seen bool
	}{
		{"slow", len(all) == 0 && r.Slowest > tooSlow+inTurn*r.Stalled},
		{"warming", !refused && (len(r.Unacked) > 0 || r.Warming > 0 || r.late())},
		{"undelivered", !refused && len(r.Undelivered) > 0},
		{"NACK", refused},
	} {
		if s.seen {
			all = append(all, s.name)
		}
	}
	return all
}

// late reports whether the push itself timed out.
func (r *Result) late() bool {
	var timeout *apply.TimeoutError
	return errors.As(r.Err, &timeout)
}

// Notes are the harmless symptoms: "drain" (connections were closed, and no request failed), "rebuilt" (clusters).
func (r *Result) Notes() []string {
	var all []string
	if r.Drained > 0 && r.Failed() == 0 {
		all = append(all, "drain")
	}
	if r.Rebuilt > 0 {
		all = append(all, "rebuilt")
	}
	return all
}

// brief lists each NACK once: go-control-plane sends a rejected response again, and Envoy rejects it again.
func brief(nacks []string) []string {
	const enough = 200
	var all []string
	for _, nack := range slices.Compact(slices.Clone(nacks)) {
		all = append(all, strings.Join(strings.Fields(nack[:min(enough, len(nack))]), " "))
	}
	return all
}

func (r *Result) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d failed", r.Failed(), r.Requests)
	for _, kind := range slices.Sorted(maps.Keys(r.Failures)) {
		fmt.Fprintf(&b, ", %s: %d", kind, r.Failures[kind])
	}
	fmt.Fprintf(&b, "; slowest %d ms, applied after %d ms", r.Slowest.Milliseconds(), r.Applied.Milliseconds())
	if r.Failed() > 0 {
		fmt.Fprintf(&b, ", last failure at %d ms", r.LastFailure.Milliseconds())
	}
	for _, s := range []struct {
		what string
		all  []string
	}{
		{"unacked", r.Unacked}, {"undelivered", r.Undelivered}, {"NACK", brief(r.Nacks)}, {"not asked", r.Unanswered}, {"notes", r.Notes()},
	} {
		if len(s.all) > 0 {
			fmt.Fprintf(&b, "; %s: %s", s.what, strings.Join(s.all, ", "))
		}
	}
	if r.Warming > 0 {
		fmt.Fprintf(&b, "; %d warming", r.Warming)
	}
	if r.Crashed {
		b.WriteString("; Envoy crashed")
	}
	if r.Stalled > 100*time.Millisecond {
		fmt.Fprintf(&b, "; this machine was stalled for %d ms", r.Stalled.Milliseconds())
	}
	if r.Err != nil {
		fmt.Fprintf(&b, "; %v", r.Err)
	}
	return b.String()
}
