// Package routetest runs route tests: what people expect Envoy to do with requests, kept in files next to a configuration.
//
// Read reads a file of either format. The project's own (own.go) has requests under given and fields of an answer under expect; the other one is that of
// Envoy's router_check_tool (check.go), which asks a route configuration alone. Run walks each request (package walk) and compares: compare.go knows what
// it means that a value is as expected, filters.go the same for HTTP filters, and set.go makes the requests of a set. The formats of a Report are in
// write.go, Coverage in coverage.go, and Record writes a file from what Envoy does today. Mutate edits the configuration, and says which edits no test
// notices (mutation.go); probes.go has the requests that show that an edit changes something, and difference.go what it changes.
package routetest

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/strict"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/walk"
)

// File is a file with tests.
type File struct {
	Inputs []string // the configuration, as paths relative to the file; empty: the file does not say
	Checks bool     // tests of router_check_tool, which are about one route configuration
	reader *strict.Reader
	tests  []test
}

// test is a test of either format.
type test interface {
	run(r *runner, result *Result)
}

// Result is the outcome of a test.
type Result struct {
	Name     string
	File     *source.File
	Span     source.Span
	Requests int // that were sent
	Failures []Failure
}

// Failure is an expectation that is not met.
type Failure struct {
	Span     source.Span // of the expectation
	What     string      // field of the answer; empty: Got says all
	Want     string
	Got      string
	Unknown  string // why what happens is not known; empty: it is
	Request  string
	Listener string // that takes the request; empty: there is none
	Why      string // the way of the request, for people
}

// Message says what is wrong.
func (f *Failure) Message() string {
	switch {
	case f.Unknown != "":
		return fmt.Sprintf("%s is not known, since %s", f.What, f.Unknown)
	case f.What == "":
		return f.Got
	case f.Want == "":
		return fmt.Sprintf("%s: %s", f.What, f.Got)
	}
	return fmt.Sprintf("%s is %s, not %s", f.What, f.Got, f.Want)
}

// Read reads a file with tests.
func Read(f *source.File) (*File, error) {
	file := &File{reader: &strict.Reader{File: f}}
	var root *tree.Node
	if isProtoText(f) {
		root = file.protoText()
	} else {
		root = file.reader.Document()
	}
	switch {
	case root == nil && len(file.reader.Faults) == 0:
		file.reader.Errorf(source.Span{}, "the file does not have tests")
	case root == nil:
	case isCheck(root):
		file.readChecks(root)
	default:
		file.readOwn(root)
	}
	return file, file.err()
}

func (f *File) err() error {
	f.reader.Sort()
	return f.reader.Err()
}

// isCheck reports whether a file is one of router_check_tool.
func isCheck(root *tree.Node) bool {
	tests := root.Get("tests")
	return tests != nil && slices.ContainsFunc(tests.Items, func(n tree.Node) bool { return n.Get("test_name") != nil || n.Get("validate") != nil })
}

// runner runs tests over one configuration.
type runner struct {
	*strict.Reader // of the file whose tests run
	view           graph.View
	walker         *walk.Walker
	reached        map[walk.Part]bool
	walked         int // requests
}

func newRunner(v graph.View) *runner {
	return &runner{view: v, walker: walk.New(v), reached: map[walk.Part]bool{}}
}

// Run runs the tests of files over a configuration. An error means that a test makes no sense.
func Run(v graph.View, files []*File) (*Report, error) {
	r, report := newRunner(v), &Report{}
	for _, f := range files {
		for _, t := range f.tests {
			report.Results = append(report.Results, r.run(f, t))
		}
		if err := f.err(); err != nil {
			return nil, err
		}
	}
	report.Coverage = coverage(r.walker.Parts(), r.reached)
	return report, nil
}

// run runs one test of a file.
func (r *runner) run(f *File, t test) *Result {
	r.Reader = f.reader
	result := &Result{File: f.reader.File}
	t.run(r, result)
	slices.SortStableFunc(result.Failures, func(a, b Failure) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	return result
}

// walk follows a request, and notes what it reaches. It returns nil if the request makes no sense.
func (r *runner) walk(q *walk.Request, at source.Span) *walk.Answer {
	a, err := r.walker.Walk(q)
	if err != nil {
		r.Errorf(at, "%s", err)
		return nil
	}
	r.reach(a)
	return a
}

func (r *runner) reach(a *walk.Answer) {
	r.walked++
	for _, part := range a.Reached {
		r.reached[part] = true
	}
}
