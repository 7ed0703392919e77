package route

import (
	"fmt"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "match-never",
	Severity: lint.Warning,
	Summary:  "a route has a match that no request fits",
	Links: []string{
		"PathMatcher::match (source/common/common/matchers.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/route/v3/route_components.proto#config-route-v3-routematch",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *routev3.RouteMatch) {
		if plainMatch(m) {
			return // most of them are, and to find the table takes longer
		}
		if _, ok := tableOf(p, at); !ok {
			return
		}
		for i, h := range m.GetHeaders() {
			checkMethod(p, at.Item("headers", i), h)
		}
		field, text := pathText(m)
		if field == "" {
			return
		}
		own := at.Field(field)
		switch i := strings.IndexAny(text, "?#"); {
		case field == "regex" && text != "":
			if match.NewRoute(&routev3.Route{Match: m}, nil).Never() {
				p.Report(at.Field("safe_regex", "regex"), lint.Diagnostic{
					Message: fmt.Sprintf("no path matches the regular expression %s", text),
					Notes:   []string{"Envoy compares the whole path, which begins with a slash and does not contain the query"},
					Help:    "begin the expression with a slash, or with .* if anything can come before; match the query by query_parameters",
				})
			}
		case i >= 0:
			p.Report(own, lint.Diagnostic{
				Message: fmt.Sprintf("no path contains %q, so no request matches", text[i:i+1]),
				Notes:   []string{"Envoy compares the path without its query and fragment"},
				Help:    "remove the query, and match it by query_parameters",
			})
		case text != "" && text[0] != '/':
			p.Report(own, lint.Diagnostic{
				Message: fmt.Sprintf("every path begins with a slash, so none matches %q", text),
				Help:    fmt.Sprintf("write %q", "/"+text),
				Fixes:   lint.Replace(own, "/"+text).Likely("begin with a slash"),
			})
		}
	}),
})

// plainMatch reports whether a match compares nothing but the beginning of a path, with a text that a path can have.
func plainMatch(m *routev3.RouteMatch) bool {
	field, text := pathText(m)
	return len(m.GetHeaders()) == 0 && field != "regex" && !strings.ContainsAny(text, "?#") && (text == "" || text[0] == '/')
}

// pathText returns the text that a match compares with the path, and its field. A regular expression has the field regex.
func pathText(m *routev3.RouteMatch) (field, text string) {
	switch by := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		return "prefix", by.Prefix
	case *routev3.RouteMatch_Path:
		return "path", by.Path
	case *routev3.RouteMatch_PathSeparatedPrefix:
		return "path_separated_prefix", by.PathSeparatedPrefix
	case *routev3.RouteMatch_SafeRegex:
		return "regex", by.SafeRegex.GetRegex()
	}
	return "", ""
}

// methods are those that clients send, which are compared with their case.
var methods = []string{"CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE"}

func checkMethod(p *lint.Pass, at lint.At, h *routev3.HeaderMatcher) {
	method := h.GetStringMatch().GetExact()
	upper := strings.ToUpper(method)
	if h.GetName() != ":method" || method == upper || h.GetStringMatch().GetIgnoreCase() || h.GetInvertMatch() || !slices.Contains(methods, upper) {
		return
	}
	own := at.Field("string_match", "exact")
	p.Report(own, lint.Diagnostic{
		Message: fmt.Sprintf("no request has the method %q", method),
		Notes:   []string{"methods are compared with their case, and clients send this one in capital letters"},
		Help:    fmt.Sprintf("write %q", upper),
		Fixes:   lint.Replace(own, upper).Likely("write the method in capital letters"),
	})
}
