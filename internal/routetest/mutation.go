package routetest

import (
	"cmp"
	"errors"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/edits"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/walk"
)

// maxWalked limits the requests that are walked over edited configurations. Of more edits than that allows, an even part is tried.
const maxWalked = 2_000_000

// Mutation says which edits of a configuration the tests notice.
type Mutation struct {
	Noticed  int      `json:"noticed"`
	Missed   []Unseen `json:"missed"`
	Idle     int      `json:"without_effect"` // edits that change nothing for any request that was walked
	NotTried int      `json:"not_tried"`      // since there are too many
}

// Unseen is an edit that no test notices, with a test that would.
type Unseen struct {
	Location report.Location `json:"location"`
	Field    string          `json:"field"`
	Edit     string          `json:"edit"`
	Given    *walk.Request   `json:"given"`
	Expect   map[string]any  `json:"expect"`
}

// Join adds the edits of another configuration. Either may be nil.
func (m *Mutation) Join(o *Mutation) *Mutation {
	if m == nil || o == nil {
		return cmp.Or(m, o)
	}
	return &Mutation{m.Noticed + o.Noticed, append(m.Missed, o.Missed...), m.Idle + o.Idle, m.NotTried + o.NotTried}
}

// Mutate edits a configuration, one edit at a time, and runs the tests of files. They must pass without an edit. The configuration is as before when
// Mutate returns.
func Mutate(s *graph.Snapshot, files []*File) (*Mutation, error) {
	base := newRunner(s)
	if len(base.walker.Listeners()) == 0 {
		return nil, errors.New("the configuration does not have a listener: no request shows what an edit changes")
	}
	base.notices(files)
	m := &Mutation{Missed: []Unseen{}}
	probes, all := base.probes(), edits.Of(s)
	every := 1 + len(all)*(base.walked+len(probes))/maxWalked
	for i, e := range all {
		if i%every != 0 {
			m.NotTried++
			continue
		}
		m.try(s, e, files, probes)
	}
	return m, nil
}

// try makes one edit.
func (m *Mutation) try(s *graph.Snapshot, e *edits.Edit, files []*File, probes []probe) {
	edited, undo := e.Do(s)
	defer undo()
	r := newRunner(edited)
	if r.notices(files) {
		m.Noticed++
		return
	}
	for _, p := range probes {
		a, err := r.walker.Walk(p.request)
		if err != nil {
			continue // the edit is about the listener's name, which the request has
		}
		if different := difference(p.answer, a); len(different) > 0 {
			m.Missed = append(m.Missed, unseen(e, p.request, different))
			return
		}
	}
	m.Idle++
}

// notices reports whether a test fails.
func (r *runner) notices(files []*File) bool {
	for _, f := range files {
		for _, t := range f.tests {
			failed := len(r.run(f, t).Failures) > 0 || len(f.reader.Faults) > 0
			f.reader.Faults = nil // such as a listener that the edit removes
			if failed {
				return true
			}
		}
	}
	return false
}

func unseen(e *edits.Edit, q *walk.Request, expect map[string]any) Unseen {
	path := e.At.Path()
	last, _ := path.TrimPrefix(path.Parent())
	at := report.LocationOf(e.At.Resource().File, e.At.Span())
	return Unseen{Location: at, Field: path.String(), Edit: last.String() + " " + e.What, Given: shownRequest(q), Expect: expect}
}

// shownRequest returns a request without what looks like a secret of the configuration whose matchers it is made of.
func shownRequest(q *walk.Request) *walk.Request {
	made := *q
	if q.Path != nil {
		path := redact.Looks(*q.Path)
		made.Path = &path
	}
	made.Headers = nil
	for _, h := range q.Headers {
		value := redact.Looks(h[1])
		if redact.Credential(h[0]) {
			value = redact.InReports
		}
		made.Headers = append(made.Headers, walk.Header{h[0], value})
	}
	return &made
}
