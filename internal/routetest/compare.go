package routetest

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/strict"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/walk"
)

// The names of what a test can expect: the fields of an answer, and what else is known of the way of a request.
var (
	limitNames = []string{"timeout", "idle_timeout", "per_try_timeout", "retry_on", "retries", "hedging"}
	factNames  = append(strict.Names(reflect.TypeFor[walk.Answer]()), "listener", "scope", "table", "filters", "endpoints", "limits")
)

// duration is a text such as 1.5s, which can be written in several ways.
type duration string

// factsOf returns what a test can expect of an answer. What is not there is nil, or missing.
func factsOf(a *walk.Answer) map[string]any {
	all := map[string]any{}
	text, err := json.Marshal(a)
	if err == nil {
		_ = json.Unmarshal(text, &all) // it was just made
	}
	for name, value := range map[string]string{"listener": a.Listener, "scope": a.Scope, "table": a.Table} {
		if value != "" {
			all[name] = value
		}
	}
	var endpoints []any
	for _, group := range a.Endpoints {
		for _, address := range group.Addresses {
			endpoints = append(endpoints, address)
		}
	}
	if endpoints != nil {
		all["endpoints"] = endpoints
	}
	if l := a.Limits; l != nil {
		all["limits"] = map[string]any{
			"timeout": duration(l.Timeout), "idle_timeout": duration(l.IdleTimeout), "per_try_timeout": duration(l.PerTry), "retry_on": l.RetryOn,
			"retries": float64(l.Retries), "hedging": l.Hedging,
		}
	}
	return all
}

// comparison compares one answer with what is expected.
type comparison struct {
	*runner
	answer   *walk.Answer
	facts    map[string]any
	inSet    bool
	failures []Failure
}

// field compares a field of the answer.
func (c *comparison) field(name string, want *tree.Node) {
	got, has := c.facts[name]
	switch reason := c.unknown(name, has && got != nil); {
	case name == "filters":
		c.filters(want)
	case reason != "":
		c.failures = append(c.failures, Failure{Span: want.Span(), What: name, Unknown: reason})
	default:
		c.value(name, want, got)
	}
}

// unknown returns why a field is not known. Where the walk ended early, everything that it did not get to is not known.
func (c *comparison) unknown(name string, has bool) string {
	a := c.answer
	if reason := a.Unknown[name]; reason != "" {
		return reason
	}
	if lost := a.Unknown["status"]; !has && lost != "" && a.Status == nil && a.Details == "" {
		return lost
	}
	return ""
}

// value compares a value: null means that there is nothing, a map has at least what is written, and of a list of values for one, any will do.
func (c *comparison) value(what string, want *tree.Node, got any) {
	switch want.Kind {
	case tree.Map:
		if got == nil && !slices.ContainsFunc(want.Items, func(n tree.Node) bool { return n.Kind != tree.Null }) {
			return
		}
		if all, ok := got.(map[string]any); ok {
			for i, key := range want.Keys {
				c.entry(what+"."+key.Name, &want.Items[i], all[key.Name])
			}
			return
		}
	case tree.List:
		if all, ok := got.([]any); ok && len(all) == len(want.Items) {
			for i := range all {
				c.value(what, &want.Items[i], all[i])
			}
			return
		}
	}
	if !c.fits(want, got) {
		c.failures = append(c.failures, Failure{Span: want.Span(), What: what, Want: wanted(want), Got: shown(got)})
	}
}

// entry compares a value in a map, unless it is not known by itself.
func (c *comparison) entry(what string, want *tree.Node, got any) {
	if reason := c.answer.Unknown[what]; reason != "" {
		c.failures = append(c.failures, Failure{Span: want.Span(), What: what, Unknown: reason})
		return
	}
	c.value(what, want, got)
}

// fits reports whether a value that is neither compared as a map nor as a list is as expected.
func (c *comparison) fits(want *tree.Node, got any) bool {
	if list, ok := got.([]any); ok && len(list) == 1 && want.Kind != tree.List {
		got = list[0] // a header with one value
	}
	switch want.Kind {
	case tree.Null:
		return got == nil || got == "" || got == duration("")
	case tree.List:
		return !isList(got) && slices.ContainsFunc(want.Items, func(n tree.Node) bool { return c.fits(&n, got) })
	case tree.Map:
		text, ok := got.(string)
		return ok && c.matches(want, text)
	}
	switch got := got.(type) {
	case string:
		return got == want.Text
	case float64:
		number, err := strconv.ParseFloat(want.Text, 64)
		return err == nil && number-got < 1e-9 && got-number < 1e-9
	case bool:
		return want.Kind == tree.Bool && strconv.FormatBool(got) == want.Text
	case duration:
		return sameDuration(string(got), want.Text)
	}
	return false
}

func isList(v any) bool { _, ok := v.([]any); return ok }

// sameDuration reports whether two texts are the same time. No timeout is 0s.
func sameDuration(a, b string) bool {
	first, err := time.ParseDuration(a)
	second, other := time.ParseDuration(b)
	return a == b || err == nil && other == nil && first == second
}

// matches reports whether a text fits a StringMatcher, as Envoy's configurations have them: {prefix: https://}.
func (c *comparison) matches(n *tree.Node, text string) bool {
	m := &matcherv3.StringMatcher{}
	return c.decode(n, m) && match.NewText(m).Fit(text) == match.Yes
}

// decode reads a message of Envoy's API, and reports whether it is one.
func (r *runner) decode(n *tree.Node, m proto.Message) bool {
	if isProtoText(r.File) {
		return r.decodeText(n, m)
	}
	d := decode.NewDecoder(nil)
	d.Decode(n, m)
	for _, p := range d.Problems {
		if !p.Lenient {
			r.Errorf(p.Span, "%s", p.Message)
			return false
		}
	}
	return true
}

// wanted writes what is expected.
func wanted(n *tree.Node) string {
	switch n.Kind {
	case tree.Null:
		return "missing"
	case tree.List:
		var all []string
		for i := range n.Items {
			all = append(all, wanted(&n.Items[i]))
		}
		return "[" + strings.Join(all, ", ") + "]"
	case tree.Map:
		var all []string
		for i, key := range n.Keys {
			all = append(all, key.Name+": "+wanted(&n.Items[i]))
		}
		return "{" + strings.Join(all, ", ") + "}"
	case tree.String:
		return strconv.Quote(n.Text)
	}
	return n.Text
}

// shown writes what happens.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "missing"
	case string:
		return strconv.Quote(v)
	case duration:
		return strconv.Quote(string(v))
	case []any:
		var all []string
		for _, each := range v {
			all = append(all, shown(each))
		}
		return "[" + strings.Join(all, ", ") + "]"
	}
	return fmt.Sprint(v)
}
