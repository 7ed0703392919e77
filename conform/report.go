package conform

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recording"
)

// Status is what a run has shown about a clause.
type Status string

// The statuses.
const (
	Kept   Status = "kept"
	Broken Status = "broken"
	Unseen Status = "unseen" // nothing has put the clause to the test
)

// Report is the result of a run: a clause for each transport and type.
type Report struct {
	Clauses []Clause `json:"clauses"`
	// Notes say what could not be tested, and why.
	Notes []string `json:"-"`
}

// Clause is what a run has shown about a clause of the protocol, over a transport, for a type.
type Clause struct {
	Clause    string     `json:"clause"`    // a rule: `xdslint explain protocol/nonce-reused`
	Level     string     `json:"level"`     // must, should or advice
	Transport string     `json:"transport"` // sotw-ads, delta-ads, sotw or delta
	Type      string     `json:"type"`      // a type URL
	Status    Status     `json:"status"`
	Evidence  []Evidence `json:"evidence"`
}

// Evidence is a breach of a clause.
type Evidence struct {
	Scenario string `json:"scenario"`
	Message  string `json:"message"`
	// Recorded are the events that show it: lines of a recording, as xdslint record writes them.
	Recorded []json.RawMessage `json:"recorded"`
}

// Broken returns the clauses of the levels must and should that are broken.
func (r *Report) Broken() (broken []Clause) {
	for _, c := range r.Clauses {
		if c.Status == Broken && c.Level != string(protocol.Advice) {
			broken = append(broken, c)
		}
	}
	return broken
}

// String returns a line.
func (c Clause) String() string {
	text := fmt.Sprintf("%s (%s), %s, %s: %s", c.Clause, c.Level, c.Transport, kindOf(c.Type), c.Status)
	if len(c.Evidence) > 0 {
		text += ": " + c.Evidence[0].Message
	}
	return text
}

// kindOf returns the kind of a type URL, or else the name of the type.
func kindOf(typeURL string) string {
	for _, kind := range kinds {
		if graph.TypeURL(kind) == typeURL {
			return string(kind)
		}
	}
	return typeURL[strings.LastIndexByte(typeURL, '.')+1:]
}

// place is where a clause is kept or broken.
type place struct {
	transport transport
	clause    *protocol.Clause
	typeURL   string
}

// results are what the scenarios have shown: the breaches of what was put to the test.
type results map[place][]Evidence

// over returns the transport of a stream.
func over(o protocol.Opened) transport { return transport{o.Delta, o.TypeURL == ""} }

// add takes the result of a scenario: what a checker has found, but for the first findings.
func (r results) add(scenario string, c *protocol.Checker, known int) {
	for tested := range c.Tested() {
		at := place{over(tested.Stream), tested.Clause, tested.TypeURL}
		r[at] = slices.Clip(r[at])
	}
	for _, f := range c.Findings()[known:] {
		e := Evidence{Scenario: scenario, Message: f.Message}
		for _, before := range f.Related {
			e.Recorded = append(e.Recorded, recording.Text(before.At))
		}
		e.Recorded = append(e.Recorded, recording.Text(f.At))
		at := place{over(f.Stream), f.Clause, f.TypeURL}
		r[at] = append(r[at], e)
	}
}

// report makes the report about servers or clients: each clause about them, for each type that was asked for. What the
// other side does wrong is meant.
func (r results) report(clients bool, transports []transport, asked func(transport) []string) *Report {
	out := &Report{}
	for _, c := range protocol.Clauses() {
		if c.Client != clients {
			continue
		}
		for _, t := range transports {
			for _, url := range r.typesOf(t, c, asked(t)) {
				evidence, tested := r[place{t, c, url}]
				one := Clause{
					Clause: c.Rule.ID(), Level: string(c.Level), Transport: t.String(), Type: url, Status: Unseen, Evidence: evidence,
				}
				switch {
				case len(evidence) > 0:
					one.Status = Broken
				case tested:
					one.Status, one.Evidence = Kept, []Evidence{}
				default:
					one.Evidence = []Evidence{}
				}
				out.Clauses = append(out.Clauses, one)
			}
		}
	}
	return out
}

// typesOf returns the types that were asked for, and those that the server sent all the same.
func (r results) typesOf(t transport, c *protocol.Clause, asked []string) []string {
	urls := slices.Clip(asked)
	var others []string
	for at := range r {
		if at.transport == t && at.clause == c && !slices.Contains(urls, at.typeURL) {
			others = append(others, at.typeURL)
		}
	}
	slices.Sort(others)
	return append(urls, others...)
}
