package pull

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/words"
)

// Limits of what a server may send. Envoy does not have such limits.
const (
	// MaxMessage is the size of one message, in bytes.
	MaxMessage = 128 << 20
	// MaxTotal is the size of all resources together, in bytes.
	MaxTotal = 512 << 20
)

// Request says for which node to ask, and how long to wait.
type Request struct {
	// Node is the node to send (envoy.config.core.v3.Node): the server chooses the resources by it. If it has no user agent or no client
	// features, xdslint's name and the features of Envoy are filled in.
	Node *corev3.Node
	// Wait is how long the server may be silent while something that was requested is missing; 0 means DefaultWait.
	Wait time.Duration
	// Types are the types of the resources; nil means those of Envoy's v3 API.
	Types graph.Types
}

// DefaultWait is Envoy's default of ConfigSource.initial_fetch_timeout.
const DefaultWait = 15 * time.Second

func (r Request) filled() Request {
	r.Node = identify(r.Node)
	if r.Wait == 0 {
		r.Wait = DefaultWait
	}
	if r.Types == nil {
		r.Types = types.Envoy
	}
	return r
}

// Result is what was received.
type Result struct {
	// Sets are the resources by kind, in the order of graph.Kinds. There is a set for each kind that was requested, even if it is empty.
	Sets []Set
	// Missing are the names that were requested but not received.
	Missing []Missing
	// Elsewhere are the names that another server serves. They were not requested.
	Elsewhere []Elsewhere
	// Faults describe what is wrong with the server's messages.
	Faults []string

	types graph.Types
	late  bool // the deadline passed before everything was received
}

// Set is all resources of one kind.
type Set struct {
	Kind      graph.Kind
	Version   string     // of the last response
	Resources []Resource // sorted by name
}

// Resource is one resource as it was received.
type Resource struct {
	Name string
	TTL  time.Duration // 0: no TTL
	Body *anypb.Any
}

// Missing is a resource that another one refers to and that the server does not send.
type Missing struct {
	Kind graph.Kind
	Name string // empty: the server did not answer about the kind at all
	// Denied reports whether the server said that the resource does not exist. Otherwise it did not answer.
	Denied bool
	Why    string // the server's reason, if it gave one
}

// Elsewhere is a resource that another one refers to and that another server has.
type Elsewhere struct {
	Kind   graph.Kind
	Name   string // empty: all resources of the kind
	Source graph.Source
}

// Declare adds to a snapshot that was read from Files what is known about resources outside of it. Of the kinds that were requested by name, the
// snapshot holds all that the server has: Envoy will not get what is missing. The bootstrap may have more clusters and listeners. Resources of
// other servers are assumed to exist, and so are those that might have been received after the deadline.
func (r *Result) Declare(s *graph.Snapshot) {
	open := map[graph.Kind]bool{graph.Cluster: true, graph.Listener: true}
	for _, m := range r.Missing {
		open[m.Kind] = open[m.Kind] || r.late && !m.Denied
	}
	for _, set := range r.Sets {
		if !open[set.Kind] {
			s.Complete(set.Kind, graph.ADS)
		}
	}
	for _, e := range r.Elsewhere {
		if e.Name != "" {
			s.Assumptions.Names = append(slices.Clip(s.Assumptions.Names), graph.Assumed{Kind: e.Kind, Glob: graph.Literal(e.Name)})
		}
	}
}

// Notes returns one line for each thing that is missing from the result, with the reason.
func (r *Result) Notes() []string {
	notes := slices.Clone(r.Faults)
	if r.late {
		notes = append(notes, "the deadline passed before everything was received")
	}
	silent, denied := map[graph.Kind][]string{}, map[graph.Kind][]string{}
	for _, m := range r.Missing {
		switch {
		case m.Name == "":
			notes = append(notes, fmt.Sprintf("the server did not answer about any %s", m.Kind))
		case m.Why != "":
			notes = append(notes, fmt.Sprintf("the server does not send %s %s: %s", m.Kind, m.Name, m.Why))
		case m.Denied:
			denied[m.Kind] = append(denied[m.Kind], m.Name)
		default:
			silent[m.Kind] = append(silent[m.Kind], m.Name)
		}
	}
	type place struct {
		kind graph.Kind
		from graph.Source
	}
	elsewhere := map[place][]string{}
	for _, e := range r.Elsewhere {
		at := place{e.Kind, e.Source}
		elsewhere[at] = append(elsewhere[at], e.Name)
	}
	var far []string
	for at, names := range elsewhere {
		far = append(far, fmt.Sprintf("not requested, served by %s: %s", at.from, list(at.kind, names)))
	}
	slices.Sort(far)
	for _, kind := range graph.Kinds() {
		if names := silent[kind]; len(names) > 0 {
			notes = append(notes, "not received: "+list(kind, names))
		}
		if names := denied[kind]; len(names) > 0 {
			notes = append(notes, "the server reports that this does not exist: "+list(kind, names))
		}
	}
	notes = append(notes, far...)
	for i := range notes {
		notes[i] = oneLine(notes[i])
	}
	return notes
}

const maxLine = 1000

// oneLine makes a server's text safe for a terminal: it may contain anything.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(text), "\ufffd"))
	if runes := []rune(text); len(runes) > maxLine {
		return string(runes[:maxLine-1]) + "…"
	}
	return text
}

const shownNames = 10

// list formats names, the first few if there are many.
func list(kind graph.Kind, names []string) string {
	if len(names) == 1 && names[0] == "" {
		return "all of " + string(kind)
	}
	return string(kind) + " " + words.Few(names, shownNames)
}

var (
	// ErrSilent is returned if the server sent no response at all.
	ErrSilent = errors.New("the server did not answer")
	// ErrAddress is returned if an address is not valid.
	ErrAddress = errors.New("is not a URL of a server: write http://HOST:PORT, https://HOST:PORT or unix:///PATH")
)
