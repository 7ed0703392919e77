package listener

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "matcher-unfit",
	Severity: lint.Error,
	Summary:  "a filter_chain_matcher has an action or an input that cannot select filter chains",
	Links:    []string{"FilterChainManagerImpl::maybeConstructMatcher (source/common/listener_manager/filter_chain_manager_impl.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, a *anypb.Any) {
		holder := at.Place.Parent
		if holder == nil || at.Content(a) == nil && a.GetTypeUrl() != "" || !inMatcher(at) {
			return // schema/bad-type-url reports unknown types
		}
		fd := envoy.FieldOf(holder)
		if fd == nil {
			return
		}
		part, ok := matcherParts[fd.FullName()]
		name := envoy.ExtensionType(at.Place)
		if !ok || part.takes(p, name) {
			return
		}
		message := fmt.Sprintf("%s cannot be the %s in a filter_chain_matcher", name.Name(), part.what)
		if name == "" {
			message = fmt.Sprintf("the %s has no type", part.what)
		}
		p.Reject(at, lint.Rejection{
			Message:  message,
			Help:     part.help,
			Upstream: fmt.Sprintf("Didn't find a registered implementation with type URL: '%s'", name),
		})
	}),
})

// matcherPart describes what a field of a listener's matcher can hold.
type matcherPart struct {
	what       string
	help       string
	categories []string // of extensions; if there are none, it is a StringValue
}

// chainName is the type of the action that names a filter chain. Before 1.40, Envoy also takes the actions of other matchers.
const chainName protoreflect.FullName = "google.protobuf.StringValue"

func (m matcherPart) takes(p *lint.Pass, name protoreflect.FullName) bool {
	for _, c := range m.categories {
		if known(p, name, c) {
			return true
		}
	}
	return len(m.categories) == 0 && (name == chainName || p.Target.Before("1.40") && known(p, name, "envoy.matching.action"))
}

var (
	matcherInput = matcherPart{
		"input", "use an input about connections, such as envoy.extensions.matching.common_inputs.network.v3.ServerNameInput",
		[]string{"envoy.matching.network.input", "envoy.matching.common_inputs"},
	}
	matcherParts = map[protoreflect.FullName]matcherPart{
		"xds.type.matcher.v3.Matcher.OnMatch.action": {
			"action", `write {"@type": type.googleapis.com/google.protobuf.StringValue, value: NAME} with the name of a filter chain`, nil,
		},
		"xds.type.matcher.v3.Matcher.MatcherTree.input":                                  matcherInput,
		"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.input":        matcherInput,
		"xds.type.matcher.v3.Matcher.MatcherTree.custom_match":                           {"matcher of a tree", "use an IPMatcher or a ServerNameMatcher", []string{"envoy.matching.network.custom_matchers"}},
		"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.custom_match": {"matcher of a predicate", "use an input matcher, such as envoy.extensions.matching.input_matchers.ip.v3.Ip", []string{"envoy.matching.input_matchers"}},
	}
)

// inMatcher reports whether a place is part of a filter_chain_matcher that Envoy builds. Matchers hold other matchers, some of
// them in extensions.
func inMatcher(at lint.At) bool {
	if at.Resource().State != "" {
		return false
	}
	for place := at.Place; place.Parent != nil; place = place.Parent {
		if l, ok := place.Parent.Message.Interface().(*listenerv3.Listener); ok {
			fd := envoy.FieldOf(place)
			return fd != nil && fd.Name() == "filter_chain_matcher" && place.Parent.Parent == nil && built(l)
		}
		if !matches(place.Parent) {
			return false
		}
	}
	return false
}

// matches reports whether a message can be around a part of a matcher.
func matches(place *graph.Place) bool {
	switch name := place.Message.Descriptor().FullName(); name {
	case "google.protobuf.Any", "xds.core.v3.TypedExtensionConfig":
		return true
	default:
		return decode.IsTypedStruct(name) || strings.HasPrefix(string(name), "xds.type.matcher.v3.") ||
			strings.HasPrefix(string(name), "envoy.extensions.matching.input_matchers.")
	}
}
