package apply

import (
	"errors"
	"fmt"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/plan"
)

// ErrSuperseded is what Run returns when a later Run for the same node has taken over.
var ErrSuperseded = errors.New("a newer snapshot for the same node has taken over")

// TimeoutError says that what a phase waits for did not happen in time. After an ACK that did not come, the cache holds what it held before the
// phase, or after a first push all of it; after a drain that did not end, what the phase has sent, all of which was ACKed.
type TimeoutError struct {
	Node   string
	Phase  int // from 1
	Phases int
	Wait   plan.Wait
	Known  []string // what is known of it, a sentence each
}

func (e *TimeoutError) Error() string {
	what := fmt.Sprintf("no ACK of %s within %s", list(e.Wait.Kind, e.Wait.Names), e.Wait.Timeout)
	if e.Wait.For == plan.Unsubscribe {
		what = fmt.Sprintf("%s is in use after %s", list(e.Wait.Kind, e.Wait.Names), e.Wait.Timeout)
	}
	return fmt.Sprintf("node %q, phase %d of %d: %s: %s", e.Node, e.Phase, e.Phases, what, strings.Join(e.Known, "; "))
}

// NackError says that Envoy refused a response. The cache holds what it held before the phase that Run was in, which can be a later one than
// sent it, or after a first push all of it.
type NackError struct {
	Node    string
	Phase   int // from 1: the one that sent the response, 1 also if an earlier run did
	Phases  int
	TypeURL string
	Version string // of the response
	Message string // Envoy's words, without the secrets in them
	stream  string
}

func (e *NackError) Error() string {
	return fmt.Sprintf("node %q, phase %d of %d: %s refused version %q of %s: %s", e.Node, e.Phase, e.Phases, e.stream, e.Version, e.TypeURL, e.Message)
}

// shown is how many names a message lists.
const shown = 5

// list writes names for people: cluster "a", "b" and 3 more.
func list(kind graph.Kind, names []string) string {
	var b strings.Builder
	b.WriteString(string(kind))
	for i, name := range names {
		if i == shown && len(names) > shown+1 {
			fmt.Fprintf(&b, " and %d more", len(names)-shown)
			break
		}
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %q", name)
	}
	return b.String()
}
