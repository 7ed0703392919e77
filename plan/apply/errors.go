package apply

import (
	"errors"
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/plan"
)

// ErrSuperseded is the error of a push when a later one for the same node has taken over.
var ErrSuperseded = errors.New("a newer snapshot for the same node has taken over")

// TimeoutError is the error of a phase whose wait took too long. If an ACK is missing, the cache holds what it held before the phase, or after
// a first push all of it. If a drain has not ended, the cache holds what the phase has sent, all of which was ACKed.
type TimeoutError struct {
	Node   string
	Phase  int // from 1
	Phases int
	Wait   plan.Wait
	Known  []string // possible reasons, one clause each
}

func (e *TimeoutError) Error() string {
	what := fmt.Sprintf("no ACK of %s within %s", list(e.Wait.Kind, e.Wait.Names), e.Wait.Timeout)
	if e.Wait.For == plan.Unsubscribe {
		what = fmt.Sprintf("%s is still in use after %s", list(e.Wait.Kind, e.Wait.Names), e.Wait.Timeout)
	}
	return fmt.Sprintf("node %q, phase %d of %d: %s: %s", e.Node, e.Phase, e.Phases, what, strings.Join(e.Known, "; "))
}

// NackError is the error of a response that Envoy rejected. The cache holds what it held before the phase that the push was in, which can be later
// than the phase that sent the response. After a first push it holds all of it.
type NackError struct {
	Node    string
	Phase   int // the phase that sent the response, from 1; also 1 if an earlier push sent it
	Phases  int
	TypeURL string
	Version string // of the response
	Message string // Envoy's error message, redacted
	stream  string
}

func (e *NackError) Error() string {
	return fmt.Sprintf("node %q, phase %d of %d: %s rejected version %q of %s: %s",
		e.Node, e.Phase, e.Phases, e.stream, e.Version, e.TypeURL, e.Message)
}

// Rejected returns the type of the response and Envoy's message. It is what admission.Rejection asks for.
func (e *NackError) Rejected() (typeURL, message string) { return e.TypeURL, e.Message }

// shown is the number of names that a message lists.
const shown = 6

// list formats names for people: cluster "a", "b" and 5 more.
func list(kind graph.Kind, names []string) string {
	return string(kind) + " " + words.Few(words.Quoted(names), shown)
}
