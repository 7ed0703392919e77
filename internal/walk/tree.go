package walk

import (
	"net/netip"
	"slices"
	"strconv"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	xdsv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	networkinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/network/v3"
	sslinputsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/common_inputs/ssl/v3"
	ipv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/matching/input_matchers/ip/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// chosen is the action that a matcher tree chooses, with its place.
type chosen struct {
	action *xdscorev3.TypedExtensionConfig
	at     graph.At
}

// content returns the message of the action.
func (c chosen) content() (proto.Message, graph.At) {
	return envoy.Content(c.at.Field("typed_config"), c.action.GetTypedConfig())
}

// decide follows MatchTree::match: No means that nothing matches.
func (j *journey) decide(m *xdsv3.Matcher, at graph.At) (chosen, match.Overlap) {
	switch by := m.GetMatcherType().(type) {
	case *xdsv3.Matcher_MatcherList_:
		for i, each := range by.MatcherList.GetMatchers() {
			place := at.Field("matcher_list").Item("matchers", i)
			switch fits := j.predicate(each.GetPredicate(), place.Field("predicate")); fits {
			case match.Perhaps:
				return chosen{}, fits
			case match.Yes:
				if c, fits := j.onMatch(each.GetOnMatch(), place.Field("on_match")); fits != match.No {
					return c, fits
				}
			}
		}
	case *xdsv3.Matcher_MatcherTree_:
		if c, fits := j.tree(by.MatcherTree, at.Field("matcher_tree")); fits != match.No {
			return c, fits
		}
	}
	return j.onMatch(m.GetOnNoMatch(), at.Field("on_no_match"))
}

// onMatch follows handleRecursionAndSkips.
func (j *journey) onMatch(m *xdsv3.Matcher_OnMatch, at graph.At) (chosen, match.Overlap) {
	switch by := m.GetOnMatch().(type) {
	case *xdsv3.Matcher_OnMatch_Matcher:
		c, fits := j.decide(by.Matcher, at.Field("matcher"))
		if m.GetKeepMatching() {
			fits = min(fits, match.No)
		}
		return c, fits
	case *xdsv3.Matcher_OnMatch_Action:
		return chosen{by.Action, at.Field("action")}, certain(!m.GetKeepMatching())
	}
	return chosen{}, match.No
}

// tree follows ExactMapMatcher and PrefixMapMatcher.
func (j *journey) tree(t *xdsv3.Matcher_MatcherTree, at graph.At) (chosen, match.Overlap) {
	value, has, known := j.input(t.GetInput(), at.Field("input"))
	exact, prefix := t.GetExactMatchMap().GetMap(), t.GetPrefixMatchMap().GetMap()
	switch {
	case !known || t.GetCustomMatch() != nil:
		return chosen{}, match.Perhaps
	case has && exact[value] != nil:
		return j.onMatch(exact[value], at.Field("exact_match_map").Entry("map", value))
	}
	longest := 0
	for key := range prefix {
		longest = max(longest, len(key))
	}
	for n := min(len(value), longest); n >= 0 && has; n-- {
		if on := prefix[value[:n]]; on != nil {
			if c, fits := j.onMatch(on, at.Field("prefix_match_map").Entry("map", value[:n])); fits != match.No {
				return c, fits
			}
		}
	}
	return chosen{}, match.No
}

// predicate follows the field matchers.
func (j *journey) predicate(p *xdsv3.Matcher_MatcherList_Predicate, at graph.At) match.Overlap {
	all := func(list []*xdsv3.Matcher_MatcherList_Predicate, of string) (results []match.Overlap) {
		for i, each := range list {
			results = append(results, j.predicate(each, at.Field(of).Item("predicate", i)))
		}
		return results
	}
	switch by := p.GetMatchType().(type) {
	case *xdsv3.Matcher_MatcherList_Predicate_SinglePredicate_:
		return j.single(by.SinglePredicate, at.Field("single_predicate"))
	case *xdsv3.Matcher_MatcherList_Predicate_OrMatcher:
		return slices.Max(append(all(by.OrMatcher.GetPredicate(), "or_matcher"), match.No))
	case *xdsv3.Matcher_MatcherList_Predicate_AndMatcher:
		return slices.Min(append(all(by.AndMatcher.GetPredicate(), "and_matcher"), match.Yes))
	case *xdsv3.Matcher_MatcherList_Predicate_NotMatcher:
		return match.Yes - j.predicate(by.NotMatcher, at.Field("not_matcher"))
	}
	return match.Perhaps
}

func (j *journey) single(p *xdsv3.Matcher_MatcherList_Predicate_SinglePredicate, at graph.At) match.Overlap {
	value, has, known := j.input(p.GetInput(), at.Field("input"))
	if !known {
		return match.Perhaps
	}
	if m := p.GetValueMatch(); m != nil {
		if !has {
			return match.No
		}
		return match.NewText(textMatcher(m)).Fit(value)
	}
	content, _ := envoy.Content(at.Field("custom_match", "typed_config"), p.GetCustomMatch().GetTypedConfig())
	if m, ok := content.(*ipv3.Ip); ok {
		a, err := netip.ParseAddr(value)
		return certain(has && err == nil && within(m.GetCidrRanges(), a))
	}
	return match.Perhaps
}

// textMatcher returns a matcher of Envoy's API for one of the xDS API.
func textMatcher(m *xdsv3.StringMatcher) *matcherv3.StringMatcher {
	made := &matcherv3.StringMatcher{IgnoreCase: m.GetIgnoreCase()}
	switch by := m.GetMatchPattern().(type) {
	case *xdsv3.StringMatcher_Exact:
		made.MatchPattern = &matcherv3.StringMatcher_Exact{Exact: by.Exact}
	case *xdsv3.StringMatcher_Prefix:
		made.MatchPattern = &matcherv3.StringMatcher_Prefix{Prefix: by.Prefix}
	case *xdsv3.StringMatcher_Suffix:
		made.MatchPattern = &matcherv3.StringMatcher_Suffix{Suffix: by.Suffix}
	case *xdsv3.StringMatcher_Contains:
		made.MatchPattern = &matcherv3.StringMatcher_Contains{Contains: by.Contains}
	case *xdsv3.StringMatcher_SafeRegex:
		made.MatchPattern = &matcherv3.StringMatcher_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: by.SafeRegex.GetRegex()}}
	}
	return made
}

// input returns the value that a matcher looks at, and whether there is one.
func (j *journey) input(c *xdscorev3.TypedExtensionConfig, at graph.At) (value string, has, known bool) {
	content, _ := envoy.Content(at.Field("typed_config"), c.GetTypedConfig())
	address := func(a netip.Addr) (string, bool, bool) { return a.String(), true, a.IsValid() }
	switch m := content.(type) {
	case *matcherv3.HttpRequestHeaderMatchInput:
		value, has = j.headers.get(m.GetHeaderName())
		return value, has, true
	case *matcherv3.HttpRequestQueryParamMatchInput:
		value, has = decodeQuery(j.headers.value(path)).first(m.GetQueryParam())
		return value, has, !j.pathless
	case *networkinputsv3.DestinationIPInput:
		return address(j.conn.Destination.Addr())
	case *networkinputsv3.DestinationPortInput:
		return strconv.Itoa(int(j.conn.Destination.Port())), true, j.conn.Destination != netip.AddrPort{}
	case *networkinputsv3.SourceIPInput:
		return address(j.conn.Source.Addr())
	case *networkinputsv3.DirectSourceIPInput:
		return address(j.conn.Direct)
	case *networkinputsv3.ServerNameInput:
		return j.conn.ServerName, j.conn.ServerName != "", true
	case *networkinputsv3.TransportProtocolInput:
		return j.conn.Transport, j.conn.Transport != "", true
	case *sslinputsv3.UriSanInput, *sslinputsv3.DnsSanInput, *sslinputsv3.SubjectInput:
		return "", false, !j.conn.presented
	}
	return "", false, false
}
