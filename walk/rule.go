package walk

import (
	"fmt"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/routetest"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/walk"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// Rule returns a rule that runs tests over each snapshot, and reports as errors what they expect and what does not hold. The tests are texts in the
// format of `xdslint test` (docs/testing.md); what they name under input is not read. A snapshot without listeners is not tested.
//
// Among the rules of a gate (package admission), it withholds or blocks snapshots in which a test fails that holds for what a node has. Its id is
// walk/failed-test.
func Rule(tests ...string) (*lint.Rule, error) {
	for _, text := range tests {
		if _, err := read(text); err != nil {
			return nil, err
		}
	}
	group := &lint.Group{Name: "walk", Summary: "what happens to requests", Family: dataplane.Envoy}
	return group.Add(&lint.Rule{
		Name: "failed-test", Severity: lint.Error, Summary: "a test expects that something else happens to a request",
		Run: lint.ForSnapshot(func(p *lint.Pass) {
			for _, text := range tests {
				run(p, text)
			}
		}),
	}), nil
}

// read reads tests. A file belongs to one run at a time, since it notes what is wrong with it.
func read(text string) (*routetest.File, error) {
	return routetest.Read(&source.File{Name: "tests", Text: []byte(text)})
}

// run runs the tests of one text.
func run(p *lint.Pass, text string) {
	file, err := read(text)
	if err != nil || len(walk.New(p.Snapshot).Listeners()) == 0 {
		return
	}
	listeners := p.Snapshot.All(graph.Listener)
	report, err := routetest.Run(p.Snapshot, []*routetest.File{file})
	if err != nil {
		p.ReportResource(listeners[0], lint.Diagnostic{Message: fmt.Sprintf("the tests cannot be run: %s", words.Line(err.Error()))})
		return
	}
	for _, r := range report.Results {
		for _, f := range r.Failures {
			if f.What == "" && len(r.Failures) > 1 {
				continue // how many of a set fail
			}
			p.ReportResource(listenerOf(listeners, f.Listener), lint.Diagnostic{Message: words.Line(r.Name + ": " + f.Message())})
		}
	}
}

// listenerOf returns the listener of a name, or the first one.
func listenerOf(listeners []*graph.Resource, name string) *graph.Resource {
	for _, l := range listeners {
		if l.Name == name {
			return l
		}
	}
	return listeners[0]
}
