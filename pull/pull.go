// Package pull fetches what a management server gives to an Envoy, as that Envoy would, and what a running Envoy has.
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
)

// Limits of what a server may send. Envoy has none.
const (
	// MaxMessage is the size of one message, in bytes.
	MaxMessage = 128 << 20
	// MaxTotal is the size of all resources together, in bytes.
	MaxTotal = 512 << 20
)

// Request says for whom to ask, and how long.
type Request struct {
	// Node is what Envoy says of itself (envoy.config.core.v3.Node): the server chooses by it. What it leaves open is filled in: xdslint
	// names itself as the user agent.
	Node *corev3.Node
	// Wait is how long the server may say nothing while something that was asked for is missing; 0: DefaultWait.
	Wait time.Duration
	// Types are those of the resources; nil: those of Envoy's v3 API.
	Types graph.Types
}

// DefaultWait is Envoy's own patience, that of ConfigSource.initial_fetch_timeout.
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

// Result is what came.
type Result struct {
	// Sets are the resources by their kinds, in the order of graph.Kinds; a kind that was asked for is there even if nothing came of it.
	Sets []Set
	// Missing are the names that were asked for and did not come.
	Missing []Missing
	// Elsewhere are the names that another server serves: they were not asked for.
	Elsewhere []Elsewhere
	// Faults are what is wrong with the server's messages, in words.
	Faults []string

	types graph.Types
	late  bool // there was no time for all
}

// Set is all that came of one kind.
type Set struct {
	Kind      graph.Kind
	Version   string     // of the last response
	Resources []Resource // sorted by name
}

// Resource is one resource as it came.
type Resource struct {
	Name string
	TTL  time.Duration // 0: none
	Body *anypb.Any
}

// Missing is a resource that somebody refers to and the server does not give.
type Missing struct {
	Kind graph.Kind
	Name string // empty: nothing of the whole kind was answered
	// Denied: the server said that there is none; else it said nothing.
	Denied bool
	Why    string // in the server's words, if it gave a reason
}

// Elsewhere is a resource that somebody refers to and that another server has.
type Elsewhere struct {
	Kind   graph.Kind
	Name   string // empty: all that the server has of the kind
	Source graph.Source
}

// Declare says of a snapshot read from Files what is known of the world around it. It holds all that the server has of the kinds that it was
// asked for by name: what is not there, Envoy will not get. Of clusters and listeners the bootstrap may have more. What other servers
// serve is taken to exist, and so is what may still have come when the time was over.
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

// Notes say what is missing from the result, and why: a line each.
func (r *Result) Notes() []string {
	notes := slices.Clone(r.Faults)
	if r.late {
		notes = append(notes, "the time was over before all had come")
	}
	silent, denied := map[graph.Kind][]string{}, map[graph.Kind][]string{}
	for _, m := range r.Missing {
		switch {
		case m.Name == "":
			notes = append(notes, fmt.Sprintf("the server did not answer about any %s", m.Kind))
		case m.Why != "":
			notes = append(notes, fmt.Sprintf("the server refuses %s %s: %s", m.Kind, m.Name, m.Why))
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
		far = append(far, fmt.Sprintf("not asked for, since %s serves it: %s", at.from, list(at.kind, names)))
	}
	slices.Sort(far)
	for _, kind := range graph.Kinds() {
		if names := silent[kind]; len(names) > 0 {
			notes = append(notes, "did not come: "+list(kind, names))
		}
		if names := denied[kind]; len(names) > 0 {
			notes = append(notes, "does not exist, says the server: "+list(kind, names))
		}
	}
	notes = append(notes, far...)
	for i := range notes {
		notes[i] = oneLine(notes[i])
	}
	return notes
}

const maxLine = 1000

// oneLine makes what a server says fit for a terminal: it is others who choose its names and words.
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

// list names a few of many.
func list(kind graph.Kind, names []string) string {
	if len(names) == 1 && names[0] == "" {
		return "all of " + string(kind)
	}
	more := ""
	if len(names) > shownNames {
		more = fmt.Sprintf(" and %d more", len(names)-shownNames)
		names = names[:shownNames]
	}
	return string(kind) + " " + strings.Join(names, ", ") + more
}

var (
	// ErrSilent says that the server answered nothing at all.
	ErrSilent = errors.New("the server answered nothing")
	// ErrAddress says that an address is none.
	ErrAddress = errors.New("is no URL of a server: write http://HOST:PORT, https://HOST:PORT or unix:///PATH")
)
