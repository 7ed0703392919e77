package routetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/walk"
)

// check is a test of Envoy's router_check_tool (ValidationItem in test/tools/router_check/validation.proto).
type check struct {
	Name  string `yaml:"test_name"`
	Input struct {
		Authority       string        `yaml:"authority"`
		Path            string        `yaml:"path"`
		Method          string        `yaml:"method"`
		Random          uint64        `yaml:"random_value"`
		TLS             bool          `yaml:"ssl"`
		Internal        bool          `yaml:"internal"`
		Runtime         string        `yaml:"runtime"`
		RequestHeaders  []checkHeader `yaml:"additional_request_headers"`
		ResponseHeaders []checkHeader `yaml:"additional_response_headers"`
		Metadata        []struct {
			Namespace string     `yaml:"metadata_namespace"`
			Value     *tree.Node `yaml:"value"`
			Typed     *tree.Node `yaml:"typed_value"` // which no matcher of a route sees
			Overwrite bool       `yaml:"allow_overwrite"`
		} `yaml:"dynamic_metadata"`
	} `yaml:"input"`
	Validate struct {
		Cluster         *tree.Node    `yaml:"cluster_name"`
		VirtualCluster  *tree.Node    `yaml:"virtual_cluster_name"`
		VirtualHost     *tree.Node    `yaml:"virtual_host_name"`
		HostRewrite     *tree.Node    `yaml:"host_rewrite"`
		PathRewrite     *tree.Node    `yaml:"path_rewrite"`
		PathRedirect    *tree.Node    `yaml:"path_redirect"`
		CodeRedirect    *tree.Node    `yaml:"code_redirect"`
		RequestMatches  []*tree.Node  `yaml:"request_header_matches"`
		ResponseMatches []*tree.Node  `yaml:"response_header_matches"`
		RequestFields   []checkHeader `yaml:"request_header_fields"`
		ResponseFields  []checkHeader `yaml:"response_header_fields"`
	} `yaml:"validate"`

	span source.Span
}

type checkHeader struct {
	Key   *tree.Node `yaml:"key"`
	Value string     `yaml:"value"`
}

// checks is the content of a file of router_check_tool.
type checks struct {
	Tests []check `yaml:"tests"`
}

// readChecks reads a file of router_check_tool.
func (f *File) readChecks(root *tree.Node) {
	var content checks
	f.Checks = true
	f.reader.Decode(root, &content)
	for i := range content.Tests {
		c := &content.Tests[i]
		c.span = root.Get("tests").Items[i].Span()
		for _, field := range []struct{ name, value string }{
			{"test_name", c.Name}, {"authority", c.Input.Authority}, {"path", c.Input.Path}, {"method", c.Input.Method},
		} {
			if field.value == "" {
				f.reader.Errorf(c.span, "a test needs %q", field.name)
			}
		}
		f.tests = append(f.tests, c)
	}
}

func (c *check) run(r *runner, result *Result) {
	result.Name, result.Span, result.Requests = c.Name, c.span, 1
	table := r.onlyTable(c.span)
	if table == nil {
		return
	}
	found := r.walker.LookUp(table, c.lookup(r))
	r.reach(found.Answer)
	v := &verdict{runner: r, found: found}
	c.judge(v)
	for i := range v.failures {
		v.failures[i].Request = c.Input.Method + " " + c.Input.Authority + c.Input.Path
		v.failures[i].Why = found.Answer.Way()
	}
	result.Failures = v.failures
}

// onlyTable returns the route configuration that the checks are about.
func (r *runner) onlyTable(at source.Span) *envoy.RouteTable {
	tables := r.walker.Tables()
	if len(tables) != 1 {
		r.Errorf(at, "the input has %d route configurations, and a test of router_check_tool is about one", len(tables))
		return nil
	}
	return tables[0]
}

// lookup makes the request (ToolConfig::create).
func (c *check) lookup(r *runner) *walk.Lookup {
	scheme := "http"
	if c.Input.TLS {
		scheme = "https"
	}
	l := &walk.Lookup{Random: c.Input.Random, Runtime: c.Input.Runtime, Metadata: map[string]*structpb.Struct{}}
	l.Request = []walk.Header{
		{":authority", c.Input.Authority}, {":path", c.Input.Path}, {":method", c.Input.Method}, {"x-forwarded-proto", scheme}, {":scheme", scheme},
	}
	if c.Input.Internal {
		l.Request = append(l.Request, walk.Header{"x-envoy-internal", "true"})
	}
	l.Request = append(l.Request, pairs(c.Input.RequestHeaders)...)
	l.Response = pairs(c.Input.ResponseHeaders)
	for _, m := range c.Input.Metadata {
		if m.Value == nil {
			continue
		}
		value := &structpb.Struct{}
		if !r.decode(m.Value, value) {
			continue
		}
		switch before := l.Metadata[m.Namespace]; {
		case before == nil:
			l.Metadata[m.Namespace] = value
		case m.Overwrite:
			merge(before, value)
		}
	}
	return l
}

func pairs(list []checkHeader) (all []walk.Header) {
	for _, h := range list {
		if h.Key != nil {
			all = append(all, walk.Header{strings.ToLower(h.Key.Text), h.Value})
		}
	}
	return all
}

// merge follows StructUtil::update: maps are merged, lists joined, and all else replaced.
func merge(into, from *structpb.Struct) {
	if into.Fields == nil {
		into.Fields = map[string]*structpb.Value{}
	}
	for key, value := range from.GetFields() {
		before := into.Fields[key]
		switch {
		case before.GetStructValue() != nil && value.GetStructValue() != nil:
			merge(before.GetStructValue(), value.GetStructValue())
		case before.GetListValue() != nil && value.GetListValue() != nil:
			before.GetListValue().Values = append(before.GetListValue().Values, value.GetListValue().GetValues()...)
		default:
			into.Fields[key] = value
		}
	}
}

// verdict collects what is not as a check expects.
type verdict struct {
	*runner
	found    *walk.Found
	failures []Failure
}

// judge compares what router_check_tool compares (RouterCheckTool::compareEntries). Of a route that does not forward, all names are empty.
func (c *check) judge(v *verdict) {
	f, a := v.found, v.found.Answer
	forwarded := func(text string) string {
		if !f.Forwards {
			return ""
		}
		return text
	}
	v.text(c.Validate.Cluster, "cluster_name", forwarded(a.Target), "cluster", "route")
	v.text(c.Validate.VirtualCluster, "virtual_cluster_name", f.VirtualCluster, "virtual_cluster", "route")
	v.text(c.Validate.VirtualHost, "virtual_host_name", forwarded(a.VirtualHost), "route")
	v.text(c.Validate.HostRewrite, "host_rewrite", forwarded(first(f.Request, ":authority")), "host", "route")
	v.text(c.Validate.PathRewrite, "path_rewrite", forwarded(first(f.Request, ":path")), "path", "route")
	v.text(c.Validate.PathRedirect, "path_redirect", f.Location, "location", "route")
	status := "0"
	if f.Replies && a.Status != nil {
		status = strconv.Itoa(*a.Status)
	}
	v.text(c.Validate.CodeRedirect, "code_redirect", status, "route")
	v.matches(c.Validate.RequestMatches, "request_header_matches", f.Request, "added.")
	v.matches(c.Validate.ResponseMatches, "response_header_matches", f.Response, "response_added.")
	v.fields(c.Validate.RequestFields, "request_header_fields", f.Request, "added.")
	v.fields(c.Validate.ResponseFields, "response_header_fields", f.Response, "response_added.")
}

// text compares a value, which one of some fields of the answer can make unknown.
func (v *verdict) text(want *tree.Node, what, got string, depends ...string) {
	if want = unwrapped(want); want == nil {
		return
	}
	for _, field := range depends {
		if why := v.found.Answer.Unknown[field]; why != "" {
			v.failures = append(v.failures, Failure{Span: want.Span(), What: what, Unknown: why})
			return
		}
	}
	if got != want.Text {
		v.failures = append(v.failures, Failure{Span: want.Span(), What: what, Want: strconv.Quote(want.Text), Got: strconv.Quote(got)})
	}
}

// matches compares headers with matchers (RouterCheckTool::matchHeaderField).
func (v *verdict) matches(list []*tree.Node, what string, headers []walk.Header, unknown string) {
	for _, n := range list {
		m := &routev3.HeaderMatcher{}
		if !v.decode(n, m) {
			continue
		}
		name := strings.ToLower(m.GetName())
		why := v.found.Answer.Unknown[unknown+name]
		switch fits := match.NewHeader(m).Fit(func(string) []string { return valuesOf(headers, name) }); {
		case why != "" || fits == match.Perhaps:
			v.failures = append(v.failures, Failure{Span: n.Span(), What: what + " " + name, Unknown: why})
		case fits == match.No:
			v.failures = append(v.failures, Failure{Span: n.Span(), What: what, Got: fmt.Sprintf("%s is %s, which does not match", name, quoted(valuesOf(headers, name)))})
		}
	}
}

func (v *verdict) fields(list []checkHeader, what string, headers []walk.Header, unknown string) {
	for _, h := range list {
		if h.Key != nil {
			name := strings.ToLower(h.Key.Text)
			v.text(&tree.Node{Kind: tree.String, Text: h.Value, Start: h.Key.Start, End: h.Key.End}, what+" "+name, first(headers, name), unknown+name)
		}
	}
}

func valuesOf(headers []walk.Header, name string) (all []string) {
	if name == "host" {
		name = ":authority"
	}
	for _, h := range headers {
		if h[0] == name {
			all = append(all, h[1])
		}
	}
	return all
}

func first(headers []walk.Header, name string) string {
	return append(valuesOf(headers, name), "")[0]
}

func quoted(values []string) string {
	if len(values) == 0 {
		return "missing"
	}
	values = slices.Clone(values)
	for i, value := range values {
		values[i] = strconv.Quote(value)
	}
	return strings.Join(values, ", ")
}
