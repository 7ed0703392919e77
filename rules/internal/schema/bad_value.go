package schema

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "bad-value",
	Severity:  lint.Error,
	Fragments: true,
	Summary:   "a value that does not fit the type of its field",
	Links:     []string{"https://protobuf.dev/programming-guides/json/"},
	Run:       lint.EachProblem(badValue, graph.BadValue, graph.OneofTwice, graph.BadAny, graph.TooDeep),
})

func badValue(p *lint.Pass, r *graph.Resource, problem graph.Problem) {
	if problem.Kind == graph.BadAny && problem.Name != "" {
		return // a type URL: schema/bad-type-url
	}
	d := lint.Diagnostic{Message: problem.Message, Rejected: !problem.Lenient, Notes: []string{p.OnDecodeError(r, problem)}, Upstream: "Unable to parse JSON as proto"}
	if problem.Lenient {
		d.Severity, d.Upstream = lint.Warning, ""
		d.Notes = []string{p.Target.Actor() + " accepts it"}
	}
	if problem.Kind == graph.OneofTwice {
		d.Upstream = "has already been set (either directly or as part of a oneof)"
	}
	if n := problem.Node; problem.Kind == graph.BadValue && n != nil && n.Plain && !n.Bound && n.Kind != tree.String && n.Text != "" && !problem.Span.IsZero() && wantsString(problem) {
		text := string(r.File.Text[problem.Span.Start:problem.Span.End])
		d.Help = "put it in quotes: \"" + text + "\""
		d.Fixes = lint.Replace(lint.AtProblem(r, problem), text).Safe("put it in quotes")
	}
	if problem.Kind == graph.BadValue && problem.In != nil && problem.Node != nil && problem.Node.Kind == tree.String {
		d.Help = asMap[problem.In.FullName()]
	}
	if url := missingType(p, r, problem); url != "" {
		d.Help = fmt.Sprintf(`add "@type": %s`, url)
		d.Fixes = lint.Insert(lint.AtProblem(r, problem), "@type", url).Likely("write the type")
	}
	p.ReportProblem(r, problem, d)
}

// missingType returns the type URL that a typed_config lacks, if the name next to it is that of extensions of only one type.
func missingType(p *lint.Pass, r *graph.Resource, problem graph.Problem) string {
	if problem.Kind != graph.BadAny || problem.Node == nil || problem.Node.Get("@type") != nil || problem.Path.Name() != "typed_config" {
		return ""
	}
	name := r.Locate(problem.Path.Parent().Field("name"))
	if !name.Exact || name.Node == nil {
		return ""
	}
	return onlyType(p, name.Node.Text)
}

// asMap says how to write messages for which people write only a text.
var asMap = map[protoreflect.FullName]string{
	"envoy.config.core.v3.Address":        "write {socket_address: {address: …, port_value: …}}",
	"envoy.config.core.v3.DataSource":     "write {inline_string: …} or {filename: …}",
	"envoy.config.route.v3.RouteAction":   "write {cluster: …}",
	"envoy.config.route.v3.RouteMatch":    "write {prefix: …}, or {path: …} for exactly one path",
	"envoy.type.matcher.v3.RegexMatcher":  "write {regex: …}",
	"envoy.type.matcher.v3.StringMatcher": "write {exact: …} or {prefix: …}",
}
