package posture

import (
	"encoding/json"
	"io"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/walk"
)

type (
	jsonCell struct {
		Listener string        `json:"listener"`
		Chain    string        `json:"chain"`
		Host     string        `json:"vhost"`
		Domains  []string      `json:"domains"`
		Route    string        `json:"route"`
		Paths    string        `json:"paths"`
		With     string        `json:"with,omitempty"`
		Target   string        `json:"target"`
		Forwards bool          `json:"forwards"`
		Guards   []jsonGuard   `json:"guards"`
		Request  *walk.Request `json:"request"`
	}
	jsonGuard struct {
		Kind     string           `json:"kind"`
		Name     string           `json:"name"`
		State    walk.State       `json:"state"`
		Asks     string           `json:"asks,omitempty"`
		Why      string           `json:"why,omitempty"`
		Location *report.Location `json:"location,omitempty"`
	}
	jsonHole struct {
		Trick   string        `json:"trick"`
		Lost    []jsonGuard   `json:"lost"`
		Target  string        `json:"target"`
		Path    string        `json:"path"` // as the upstream sees it
		Same    bool          `json:"same_path"`
		Below   bool          `json:"other_resource"`
		Further int           `json:"further"`
		Guarded *walk.Request `json:"guarded"`
		Request *walk.Request `json:"request"`
		Curl    string        `json:"curl"`
	}
	jsonPolicy struct {
		Policy   string          `json:"policy"`
		Location report.Location `json:"location"`
		Holds    bool            `json:"holds"`
		Requests int             `json:"requests"`
		Breaches []jsonBreach    `json:"breaches"`
		Further  int             `json:"further"`
	}
	jsonBreach struct {
		Guard   jsonGuard     `json:"guard"`
		Request *walk.Request `json:"request"`
		Curl    string        `json:"curl"`
	}
)

// JSON writes one object.
func (r *Report) JSON(w io.Writer) error {
	all := struct {
		Cells    []jsonCell   `json:"cells"`
		Holes    []jsonHole   `json:"holes"`
		Policies []jsonPolicy `json:"policies"`
		Unknown  []string     `json:"unknown"`
	}{[]jsonCell{}, []jsonHole{}, []jsonPolicy{}, append([]string{}, r.Unknown...)}
	for _, c := range r.Cells {
		all.Cells = append(all.Cells, jsonCell{
			c.Listener, c.Chain, c.Host, c.Domains, c.Route, c.Paths, c.With, c.Target, c.Way.Forwards(), guardsOf(c.Way.Guards), c.Way.Sent,
		})
	}
	for _, h := range r.Holes {
		all.Holes = append(all.Holes, jsonHole{
			h.Trick, guardsOf(h.Lost), h.Cell.Target, h.Way.Path, h.Same(), h.Below, h.Further, h.Cell.Way.Sent, h.Way.Sent, h.Way.Curl(),
		})
	}
	for _, p := range r.Policies {
		one := jsonPolicy{p.Text, report.LocationOf(p.File, p.Span), p.Holds(), p.Requests, []jsonBreach{}, p.Further}
		for _, b := range p.Breaches {
			one.Breaches = append(one.Breaches, jsonBreach{guardsOf([]walk.Guard{b.Why})[0], b.Way.Sent, b.Way.Curl()})
		}
		all.Policies = append(all.Policies, one)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(all)
}

func guardsOf(guards []walk.Guard) []jsonGuard {
	all := []jsonGuard{}
	for _, g := range guards {
		all = append(all, jsonGuard{g.Kind, GuardName(g), g.State, g.Asks, g.Why, locationOf(g.At)})
	}
	return all
}

// locationOf returns where something is, or nil if it is nowhere.
func locationOf(at graph.At) *report.Location {
	if at.Place == nil {
		return nil
	}
	l := report.LocationOf(at.Resource().File, at.Span())
	return &l
}
