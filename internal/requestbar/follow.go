// Package requestbar answers the request bar of the playground: it reads a request as people write it, follows it, and returns each step with its place in the
// texts. Only the larger engine of the playground links it.
package requestbar

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
)

// Asked is what the bar and its form hold.
type Asked struct {
	Text        string `json:"text"`        // the request
	Listener    string `json:"listener"`    // its name; empty: as the port of the request says
	SNI         string `json:"sni"`         // these replace what the text says
	ALPN        string `json:"alpn"`        // separated by commas
	Certificate string `json:"certificate"` // the name in the client's certificate
	Source      string `json:"source"`
}

// Answer is what happens to the request.
type Answer struct {
	Target    string   `json:"target"` // that the walk is of
	Title     string   `json:"title"`  // the request as it is understood
	Problem   string   `json:"problem"`
	Listeners []string `json:"listeners"`
	Steps     []Step   `json:"steps"`
	Outcome   []string `json:"outcome"`  // who answers what, and then what else happens to the request and the response
	Tone      string   `json:"tone"`     // passes, answers, unknown
	Doubtful  bool     `json:"doubtful"` // the outcome is what happens unless a filter answers
	Unknown   []Doubt  `json:"unknown"`
}

// Step is a part of the configuration on the way of the request.
type Step struct {
	Kind     string           `json:"kind"`
	Name     string           `json:"name"` // empty: none takes the request
	Says     string           `json:"says"`
	State    string           `json:"state"` // of a filter: passes, answers, disabled, unknown; unreached, or empty
	Location *report.Location `json:"location"`
	Settings []Setting        `json:"settings"`
	Passed   []Candidate      `json:"passed"`
}

// Setting is a configuration of a filter that is in effect, without its secrets.
type Setting struct {
	Of       string           `json:"of"`
	Text     string           `json:"text"`
	Location *report.Location `json:"location"`
}

// Candidate did not take the request.
type Candidate struct {
	Name     string           `json:"name"`
	Why      string           `json:"why"`
	Location *report.Location `json:"location"`
}

// Doubt is what is not known, and why.
type Doubt struct {
	Field string `json:"field"`
	Why   string `json:"why"`
}

// The tones of an answer.
const (
	passes  = "passes"  // an upstream gets the request
	answers = "answers" // Envoy answers, or closes the connection
	unknown = "unknown"
)

// unreached is the state of a cluster that the route chooses, and that does not get the request.
const unreached = "unreached"

// maxText limits the text of a request.
const maxText = 64 << 10

// Follow follows a request through a snapshot, as the first of the targets does that can be followed. What is wrong with the request is in the answer.
func Follow(ctx context.Context, s *graph.Snapshot, targets []dataplane.Target, raw json.RawMessage) (any, error) {
	var q Asked
	if err := json.Unmarshal(raw, &q); err != nil {
		return nil, fmt.Errorf("the request is malformed: %w", err)
	}
	a := &Answer{Listeners: []string{}, Steps: []Step{}, Outcome: []string{}, Unknown: []Doubt{}, Tone: unknown}
	follow := func() error { return notFollowed(targets[0]) }
	for _, t := range targets {
		if t.Family() == dataplane.Envoy {
			a.Target = dataplane.Default().String()
			follow = func() error { return a.envoy(s, &q) }
			break
		}
		if t.Plane == grpc.Go {
			a.Target = t.String()
			follow = func() error { return a.grpc(ctx, s, t, &q) }
			break
		}
	}
	if len(q.Text) > maxText {
		a.Problem = fmt.Sprintf("the request has more than %d kB", maxText>>10)
	} else if err := follow(); err != nil {
		a.Problem = err.Error()
	}
	return a, nil
}

func notFollowed(t dataplane.Target) error {
	other, err := dataplane.Parse(grpc.Go)
	return errors.Join(err, fmt.Errorf("what %s does with requests is not known: choose %s or %s", t, dataplane.Default(), other))
}

// envoy follows a request through Envoy.
func (a *Answer) envoy(s *graph.Snapshot, q *Asked) error {
	w := walk.New(s)
	listeners := w.Listeners()
	for _, l := range listeners {
		a.Listeners = append(a.Listeners, l.Name)
	}
	typed, err := q.request()
	if err != nil || typed == nil {
		return err
	}
	r := &typed.Request
	r.Listener.Name = q.Listener
	if of := func(l walk.Listener) bool { return l.Port == typed.port }; q.Listener == "" && len(listeners) > 1 && slices.ContainsFunc(listeners, of) {
		r.Listener.Port = typed.port
	}
	a.Title = words.Printable(r.Title())
	found, err := w.Walk(r)
	if err != nil {
		return err
	}
	a.tell(w, found.Redacted())
	return nil
}

// request reads the text, and adds what the form says. It returns nil if nothing is typed.
func (q *Asked) request() (*typed, error) {
	t, err := read(q.Text)
	if err != nil || t == nil {
		return nil, err
	}
	t.SNI = cmp.Or(q.SNI, t.SNI)
	if all := splitList(q.ALPN); len(all) > 0 {
		t.ALPN = all
	}
	if q.Certificate != "" {
		t.ClientCert = walk.Identity{Presented: true, Name: q.Certificate}
	}
	t.Source = q.Source
	return t, nil
}

// doubtsOf returns what is not known, in order.
func doubtsOf(unknown map[string]string) []Doubt {
	all := []Doubt{}
	for _, field := range slices.Sorted(maps.Keys(unknown)) {
		all = append(all, Doubt{field, unknown[field]})
	}
	return all
}

// locationOf returns where something is, or nil.
func locationOf(at graph.At) *report.Location {
	if at.Place == nil {
		return nil
	}
	l := report.LocationOf(at.Resource().File, at.Span())
	return &l
}
