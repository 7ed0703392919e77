package routetest

import (
	"strings"

	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/walk"
)

// ownTest is a test in the project's own format.
type ownTest struct {
	span     source.Span
	name     string
	requests []placed
	set      *set // instead of requests
	expect   *tree.Node
}

// placed is a request with its place.
type placed struct {
	*walk.Request
	at source.Span
}

// readOwn reads a file in the project's own format.
func (f *File) readOwn(root *tree.Node) {
	var content struct {
		Input *tree.Node `yaml:"input"`
		Given *tree.Node `yaml:"given"` // what all requests have
		Tests []struct {
			Name   string     `yaml:"name"`
			Given  *tree.Node `yaml:"given"`
			Expect *tree.Node `yaml:"expect"`
		} `yaml:"tests"`
	}
	r := f.reader
	r.Decode(root, &content)
	f.readInputs(content.Input)
	if len(content.Tests) == 0 {
		r.Errorf(root.Span(), `the file does not have "tests"`)
	}
	if content.Given != nil && content.Given.Kind != tree.Map {
		r.Errorf(content.Given.Span(), "given: got %s, want a map", content.Given.Kind)
		content.Given = nil
	}
	f.checkKeys(content.Given, requestNames)
	for i, t := range content.Tests {
		own := &ownTest{span: root.Get("tests").Items[i].Span(), name: t.Name, expect: t.Expect}
		switch {
		case t.Given == nil:
			r.Errorf(own.span, `a test needs "given", its request`)
		case t.Given.Kind == tree.String:
			own.set = f.readSet(content.Given, t.Given)
		case t.Given.Kind == tree.List:
			if len(t.Given.Items) == 0 {
				r.Errorf(t.Given.Span(), "given: the list is empty")
			}
			for j := range t.Given.Items {
				own.add(f, content.Given, &t.Given.Items[j])
			}
		default:
			own.add(f, content.Given, t.Given)
		}
		f.checkExpect(own)
		own.call()
		f.tests = append(f.tests, own)
	}
}

// readInputs reads a path, or a list of paths.
func (f *File) readInputs(n *tree.Node) {
	if n == nil {
		return
	}
	list := []tree.Node{*n}
	if n.Kind == tree.List {
		list = n.Items
	}
	for _, path := range list {
		if path.Kind != tree.String {
			f.reader.Errorf(path.Span(), "input: got %s, want a path", path.Kind)
			continue
		}
		f.Inputs = append(f.Inputs, path.Text)
	}
}

func (t *ownTest) add(f *File, shared, own *tree.Node) {
	t.requests = append(t.requests, placed{f.readRequest(shared, own), own.Span()})
}

// call names a test without a name after its request.
func (t *ownTest) call() {
	switch {
	case t.name != "":
	case t.set != nil:
		t.name = t.set.text
	case len(t.requests) > 0:
		t.name = title(t.requests[0].Request)
	}
}

// title is a request in one line, without secrets.
func title(r *walk.Request) string {
	text := r.Method + " "
	if r.Authority != nil {
		text += *r.Authority
	}
	if r.Path != nil {
		text += *r.Path
	}
	for _, h := range r.Headers {
		value := h[1]
		if redact.Credential(h[0]) {
			value = redact.InReports
		}
		text += ", " + h[0] + ": " + value
	}
	if r.SNI != "" && (r.Authority == nil || !strings.EqualFold(r.SNI, *r.Authority)) {
		text += ", SNI " + r.SNI
	}
	return redact.Looks(text)
}

func (t *ownTest) run(r *runner, result *Result) {
	result.Name, result.Span = t.name, t.span
	if t.set != nil {
		t.runSet(r, result)
		return
	}
	for _, q := range t.requests {
		result.Requests++
		if a := r.walk(q.Request, q.at); a != nil {
			result.Failures = append(result.Failures, r.judge(t.expect, q.Request, a, false)...)
		}
	}
}

// judge compares an answer with what is expected.
func (r *runner) judge(expect *tree.Node, q *walk.Request, a *walk.Answer, inSet bool) []Failure {
	c := &comparison{runner: r, answer: a, facts: factsOf(a.Redacted()), inSet: inSet}
	for i, key := range expect.Keys {
		c.field(key.Name, &expect.Items[i])
	}
	if len(c.failures) == 0 {
		return nil
	}
	var way strings.Builder
	_ = a.Redacted().Text(&way, q) // a Builder does not fail
	for i := range c.failures {
		c.failures[i].Request, c.failures[i].Listener, c.failures[i].Why = title(q), a.Listener, way.String()
	}
	return c.failures
}

// checkExpect rejects fields that an answer does not have.
func (f *File) checkExpect(t *ownTest) {
	if t.expect == nil || t.expect.Kind != tree.Map || len(t.expect.Keys) == 0 {
		f.reader.Errorf(t.span, `a test needs "expect", a map with fields of the answer`)
		t.expect = &tree.Node{Kind: tree.Map}
		return
	}
	f.checkKeys(t.expect, factNames)
	f.checkKeys(t.expect.Get("limits"), limitNames)
}
