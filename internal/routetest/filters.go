package routetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/walk"
)

// states are what a test can expect of an HTTP filter. One that runs passes the request on, or answers, or it depends on others which of these it does.
var states = []string{"runs", "passes", "answers", "undecided", "disabled"}

// filters compares the HTTP filters: a name or a list of names that run, or a map of names to states. null is a filter that the request does not get to.
func (c *comparison) filters(want *tree.Node) {
	switch want.Kind {
	case tree.String:
		c.filter(want.Text, "runs", want.Span())
	case tree.List:
		for i := range want.Items {
			c.filter(want.Items[i].Text, "runs", want.Items[i].Span())
		}
	case tree.Map:
		for i, key := range want.Keys {
			state := &want.Items[i]
			if state.Kind != tree.Null && !slices.Contains(states, state.Text) {
				c.Errorf(state.Span(), "%q is not one of %s, or null", state.Text, strings.Join(states, ", "))
				continue
			}
			c.filter(key.Name, state.Text, state.Span())
		}
	default:
		c.Errorf(want.Span(), "filters: got %s, want names of filters, or a map of names to states", want.Kind)
	}
}

// filter compares the state of one filter. An empty one means that the request does not get to it.
func (c *comparison) filter(name, want string, at source.Span) {
	step := stepOf(c.answer, name)
	fail := func(got string) {
		expected := "it " + map[string]string{"runs": "runs", "passes": "passes", "answers": "answers", "undecided": "is undecided", "disabled": "is disabled", "": "does not run"}[want]
		c.failures = append(c.failures, Failure{Span: at, What: "filter " + name, Got: got + ", and not as expected: " + expected})
	}
	switch {
	case step == nil && want == "":
	case step == nil && c.inSet && want == "runs" && answered(c.answer):
	case step == nil && answered(c.answer):
		fail("a filter before it answers")
	case step == nil && lost(c.answer):
		c.failures = append(c.failures, Failure{Span: at, What: "filter " + name, Unknown: c.answer.Unknown["status"]})
	case step == nil:
		fail("it is not in the filter chain")
	case !hasState(step, want):
		fail(stateText(step))
	}
}

// stepOf finds a filter by its name or its kind, such as jwt_authn.
func stepOf(a *walk.Answer, name string) *walk.FilterStep {
	for i, f := range a.Filters {
		if f.Name == name || f.Kind == name {
			return &a.Filters[i]
		}
	}
	return nil
}

// answered reports whether a filter answers the request.
func answered(a *walk.Answer) bool {
	return len(a.Filters) > 0 && a.Filters[len(a.Filters)-1].Does == "answers"
}

// lost reports whether the walk ended because something is not known.
func lost(a *walk.Answer) bool {
	return len(a.Filters) == 0 && a.Unknown["status"] != ""
}

func hasState(f *walk.FilterStep, want string) bool {
	switch want {
	case "runs":
		return f.Does != "disabled"
	case "undecided":
		return f.Does == "unknown"
	}
	return f.Does == want
}

func stateText(f *walk.FilterStep) string {
	text := map[string]string{"passes": "it passes the request", "answers": "it answers", "unknown": "it is undecided", "disabled": "it is disabled"}[f.Does]
	if f.Config != "" {
		text += fmt.Sprintf(", as %s says", f.Config)
	}
	return text
}
