package resolve

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/grpc"
)

// findHost returns the index of the virtual host, or -1.
func (w *walk) findHost() int {
	all := w.table.GetVirtualHosts()
	hosts := grpc.HostsOf(w.table)
	if i := hosts.Invalid; i >= 0 {
		w.answer.Passed = []Passed{{hostName(all[i], i), fmt.Sprintf("%q is not a domain, for which the client uses no virtual host", hosts.Domain)}}
		return -1
	}
	best := hosts.Of(w.host)
	for i, host := range all {
		if i != best {
			w.answer.Passed = append(w.answer.Passed, Passed{hostName(host, i), whyNot(host, w.host)})
		}
	}
	return best
}

func hostName(host *routev3.VirtualHost, i int) string {
	if host.GetName() == "" {
		return fmt.Sprintf("virtual_hosts[%d]", i)
	}
	return host.GetName()
}

// whyNot says why a virtual host does not take the RPCs to a host.
func whyNot(h *routev3.VirtualHost, host string) string {
	if slices.ContainsFunc(h.GetDomains(), func(domain string) bool { return grpc.FitsDomain(domain, host) }) {
		return "another domain fits better"
	}
	return "no domain fits " + host
}

// mismatch says why a route does not take an RPC, or returns "" (routesProtoToSlice, CompositeMatcher.Match). A fraction is not looked at.
func (w *walk) mismatch(r *routev3.Route) string {
	m := r.GetMatch()
	switch {
	case len(m.GetQueryParameters()) > 0:
		return "gRPC drops routes that match query parameters"
	case droppedFor(r.GetRoute()) != "":
		return "gRPC drops routes with " + droppedFor(r.GetRoute())
	case !matchesPath(m, w.rpc.Method):
		return "the path does not fit"
	}
	for _, h := range m.GetHeaders() {
		if !matchesHeader(h, w.metadata) {
			return fmt.Sprintf("the header %q does not fit", h.GetName())
		}
	}
	return ""
}

// droppedFor returns the kind of a destination for which a client drops a route. A plugin that the client has is not among them: programs
// without more imports have none.
func droppedFor(a *routev3.RouteAction) string {
	switch a.GetClusterSpecifier().(type) {
	case *routev3.RouteAction_Cluster, *routev3.RouteAction_WeightedClusters:
		return ""
	case *routev3.RouteAction_ClusterSpecifierPlugin:
		return "a cluster specifier plugin that is not known"
	case nil:
		if a == nil {
			return ""
		}
		return "no cluster"
	}
	return "a destination that it does not know"
}

func matchesPath(m *routev3.RouteMatch, path string) bool {
	fold := func(text string) string {
		if m.GetCaseSensitive() != nil && !m.GetCaseSensitive().GetValue() {
			return strings.ToUpper(text)
		}
		return text
	}
	switch p := m.GetPathSpecifier().(type) {
	case *routev3.RouteMatch_Prefix:
		return strings.HasPrefix(fold(path), fold(p.Prefix))
	case *routev3.RouteMatch_Path:
		return fold(path) == fold(p.Path)
	case *routev3.RouteMatch_SafeRegex: // always with case
		return matchesWhole(p.SafeRegex.GetRegex(), path)
	}
	return false
}

// matchesWhole reports whether a regular expression matches a whole text (CompileSafeRegex).
func matchesWhole(pattern, text string) bool {
	re, err := regexp.Compile("^(?:" + pattern + ")$")
	return err == nil && re.MatchString(text)
}

// matchesHeader reports whether a header fits. One that is not there fits only present_match, even if the matcher is inverted.
func matchesHeader(h *routev3.HeaderMatcher, metadata map[string][]string) bool {
	values, present := metadata[strings.ToLower(h.GetName())]
	if m, ok := h.GetHeaderMatchSpecifier().(*routev3.HeaderMatcher_PresentMatch); ok {
		return (present && strings.Join(values, ",") != "") == (m.PresentMatch != h.GetInvertMatch())
	}
	return present && matchesValue(h, strings.Join(values, ",")) != h.GetInvertMatch()
}

func matchesValue(h *routev3.HeaderMatcher, value string) bool {
	switch m := h.GetHeaderMatchSpecifier().(type) {
	case *routev3.HeaderMatcher_ExactMatch: //nolint:staticcheck // deprecated, and in use
		return value == m.ExactMatch
	case *routev3.HeaderMatcher_PrefixMatch: //nolint:staticcheck // deprecated, and in use
		return strings.HasPrefix(value, m.PrefixMatch)
	case *routev3.HeaderMatcher_SuffixMatch: //nolint:staticcheck // deprecated, and in use
		return strings.HasSuffix(value, m.SuffixMatch)
	case *routev3.HeaderMatcher_ContainsMatch: //nolint:staticcheck // deprecated, and in use
		return strings.Contains(value, m.ContainsMatch)
	case *routev3.HeaderMatcher_SafeRegexMatch: //nolint:staticcheck // deprecated, and in use
		return matchesWhole(m.SafeRegexMatch.GetRegex(), value)
	case *routev3.HeaderMatcher_RangeMatch:
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && n >= m.RangeMatch.GetStart() && n < m.RangeMatch.GetEnd()
	case *routev3.HeaderMatcher_StringMatch:
		return matchesText(m.StringMatch, value)
	}
	return false
}

func matchesText(m *matcherv3.StringMatcher, value string) bool {
	fold := func(text string) string {
		if m.GetIgnoreCase() {
			return strings.ToLower(text)
		}
		return text
	}
	switch p := m.GetMatchPattern().(type) {
	case *matcherv3.StringMatcher_Exact:
		return fold(value) == fold(p.Exact)
	case *matcherv3.StringMatcher_Prefix:
		return strings.HasPrefix(fold(value), fold(p.Prefix))
	case *matcherv3.StringMatcher_Suffix:
		return strings.HasSuffix(fold(value), fold(p.Suffix))
	case *matcherv3.StringMatcher_Contains:
		return strings.Contains(fold(value), fold(p.Contains))
	case *matcherv3.StringMatcher_SafeRegex: // always with case
		return matchesWhole(p.SafeRegex.GetRegex(), value)
	}
	return false
}
