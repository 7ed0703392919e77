package routetest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/words"
)

// Report is the outcome of a run.
type Report struct {
	Results  []*Result
	Coverage []*Coverage
	Mutation *Mutation // nil: nothing was edited
}

// Join adds the outcome over another configuration.
func (r *Report) Join(o *Report) {
	r.Results, r.Coverage = append(r.Results, o.Results...), append(r.Coverage, o.Coverage...)
	r.Mutation = r.Mutation.Join(o.Mutation)
}

// Failed returns how many tests failed.
func (r *Report) Failed() (n int) {
	for _, t := range r.Results {
		if len(t.Failures) > 0 {
			n++
		}
	}
	return n
}

// Text writes what failed, and why.
func (r *Report) Text(w io.Writer) error {
	out := bufio.NewWriter(w)
	requests := 0
	for _, t := range r.Results {
		requests += t.Requests
		for i, f := range t.Failures {
			fmt.Fprintf(out, "%s: %s: %s\n", report.LocationOf(t.File, f.Span).Place(), t.Name, words.Line(f.Message()))
			fmt.Fprint(out, t.why(i))
		}
	}
	fmt.Fprintf(out, "%s, %s: ", words.Count(len(r.Results), "test"), words.Count(requests, "request"))
	if n := r.Failed(); n > 0 {
		fmt.Fprintf(out, "%d failed\n", n)
	} else {
		fmt.Fprintln(out, "ok")
	}
	for _, c := range r.Coverage {
		fmt.Fprintf(out, "%ss: %d of %d reached\n", c.Kind, c.All-len(c.Missed), c.All)
		for _, m := range c.Missed {
			fmt.Fprintf(out, "  %s: %s\n", m.Location.Place(), words.Name(m.Name))
		}
	}
	if r.Mutation != nil {
		r.Mutation.text(out)
	}
	return out.Flush()
}

// text writes which edits no test notices, each with a test that would.
func (m *Mutation) text(out io.Writer) {
	fmt.Fprintf(out, "edits: %d of %d noticed, %d more without effect", m.Noticed, m.Noticed+len(m.Missed), m.Idle)
	if m.NotTried > 0 {
		fmt.Fprintf(out, ", %d more not tried", m.NotTried)
	}
	fmt.Fprintln(out)
	for _, u := range m.Missed {
		fmt.Fprintf(out, "  %s: %s\n", u.Location.Place(), words.Line(u.Edit))
		fmt.Fprintf(out, "    - given: %s\n      expect: %s\n", inline(u.Given), inline(u.Expect))
	}
}

// why returns the way of a request after the last failure about it, indented.
func (t *Result) why(i int) string {
	if i+1 < len(t.Failures) && t.Failures[i+1].Request == t.Failures[i].Request {
		return ""
	}
	var b strings.Builder
	for line := range strings.Lines(t.Failures[i].Why) {
		b.WriteString("  " + line)
	}
	return b.String()
}

type (
	jsonTest struct {
		Name     string          `json:"name"`
		Location report.Location `json:"location"`
		Passed   bool            `json:"passed"`
		Requests int             `json:"requests"`
		Failures []jsonFailure   `json:"failures"`
	}
	jsonFailure struct {
		Message  string          `json:"message"`
		Location report.Location `json:"location"`
		Request  string          `json:"request,omitempty"`
		Why      string          `json:"why,omitempty"`
	}
	jsonSummary struct {
		Tests    int `json:"tests"`
		Failed   int `json:"failed"`
		Requests int `json:"requests"`
	}
)

// JSON writes one object.
func (r *Report) JSON(w io.Writer) error {
	summary := jsonSummary{Tests: len(r.Results), Failed: r.Failed()}
	tests := []jsonTest{}
	for _, t := range r.Results {
		one := jsonTest{Name: t.Name, Location: report.LocationOf(t.File, t.Span), Passed: len(t.Failures) == 0, Requests: t.Requests, Failures: []jsonFailure{}}
		for _, f := range t.Failures {
			one.Failures = append(one.Failures, jsonFailure{f.Message(), report.LocationOf(t.File, f.Span), f.Request, f.Why})
		}
		summary.Requests += t.Requests
		tests = append(tests, one)
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(struct {
		Tests    []jsonTest  `json:"tests"`
		Coverage []*Coverage `json:"coverage,omitempty"`
		Mutation *Mutation   `json:"mutation,omitempty"`
		Summary  jsonSummary `json:"summary"`
	}{tests, r.Coverage, r.Mutation, summary})
}

// JUnit writes a suite for each file, and a case for each test.
func (r *Report) JUnit(w io.Writer) error {
	var suites []report.Suite
	for _, t := range r.Results {
		if n := len(suites); n == 0 || suites[n-1].Name != t.File.Name {
			suites = append(suites, report.Suite{Name: t.File.Name})
		}
		at := report.LocationOf(t.File, t.Span)
		c := report.Case{Name: t.Name, Class: t.File.Name, File: t.File.Name}
		if at.Start != nil {
			c.Line = at.Start.Line
		}
		if len(t.Failures) > 0 {
			var text strings.Builder
			for i, f := range t.Failures {
				fmt.Fprintf(&text, "%s: %s\n%s", report.LocationOf(t.File, f.Span).Place(), f.Message(), t.why(i))
			}
			c.Failure = &report.Failed{Message: t.Failures[0].Message(), Type: "expectation", Text: text.String()}
		}
		suites[len(suites)-1].Add(c)
	}
	return report.WriteSuites(w, suites)
}
