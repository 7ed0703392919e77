package http

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	xdscorev3 "github.com/cncf/xds/go/xds/core/v3"
	matcherv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "matcher-unfit",
	Severity: lint.Error,
	Summary:  "a matcher has an input, a matcher or an action that its filter, cluster or cluster specifier does not take",
	Links: []string{
		"MatchTreeFactory::create (source/common/matcher/matcher.h)",
		"SingleFieldMatcher::create (source/common/matcher/field_matcher.h)",
		"ActionValidationVisitor::performDataInputValidation (source/extensions/filters/http/rbac/rbac_filter.cc)",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		switch m := m.Interface().(type) {
		case *matcherv3.Matcher_OnMatch:
			keepsMatching(p, at, m)
		case *matcherv3.Matcher_MatcherList_Predicate_SinglePredicate:
			checkData(p, at, m.GetInput(), m.GetCustomMatch())
		case *matcherv3.Matcher_MatcherTree:
			if m.GetCustomMatch() == nil {
				checkData(p, at, m.GetInput(), nil)
			}
		default:
			checkExtension(p, at)
		}
	}, "google.protobuf.Any", "xds.type.matcher.v3.Matcher.OnMatch", "xds.type.matcher.v3.Matcher.MatcherTree",
		"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate"),
})

// checkExtension checks the type of an input, a matcher or an action.
func checkExtension(p *lint.Pass, at lint.At) {
	wrapping := at.Place.Parent
	if wrapping == nil || envoy.FieldOf(wrapping) == nil {
		return
	}
	part, ok := matcherFields[envoy.FieldOf(wrapping).FullName()]
	name := envoy.ExtensionType(at.Place)
	if !ok || name == "" {
		return
	}
	filter, built := matchingFilter(p, wrapping.At())
	if !built || filter.takes(p, part, name) || part == actionPart && withoutActions(p, wrapping) {
		return
	}
	upstream := fmt.Sprintf("with type URL: '%s'", name)
	if part == inputPart && slices.Contains(filter.not, name) {
		upstream = fmt.Sprintf("RBAC HTTP filter cannot match on 'type.googleapis.com/%s'", name)
	}
	p.Reject(wrapping.At().Field("typed_config", "@type"), lint.Rejection{
		Message:  fmt.Sprintf("%s cannot be the %s of this matcher", name, part),
		Help:     filter.help(part),
		Upstream: upstream,
	})
}

// keepsMatching rejects what MatchTreeValidationVisitor::validateOnMatch finds, where the filter reads its errors.
func keepsMatching(p *lint.Pass, at lint.At, m *matcherv3.Matcher_OnMatch) {
	if filter, built := matchingFilter(p, at); built && filter.stops && m.GetKeepMatching() {
		p.Reject(at.Field("keep_matching").Key(), lint.Rejection{
			Message:  "the matcher of this filter cannot continue after a match",
			Help:     "remove keep_matching",
			Upstream: "keep_matching is not supported in this context",
		})
	}
}

// inputData is what an input passes to matchers, where it is not a string.
var inputData = map[protoreflect.FullName]string{
	"xds.type.matcher.v3.HttpAttributesCelMatchInput":                             "cel_data_input",
	"envoy.extensions.filters.network.generic_proxy.matcher.v3.RequestMatchInput": "Envoy::Extensions::NetworkFilters::GenericProxy::RequestMatchData",
}

// matcherData is what a matcher takes, where it is not a string.
var matcherData = map[protoreflect.FullName]string{
	"xds.type.matcher.v3.CelMatcher":                                           "cel_data_input",
	"envoy.extensions.filters.network.generic_proxy.matcher.v3.RequestMatcher": "Envoy::Extensions::NetworkFilters::GenericProxy::RequestMatchData",
}

// checkData checks that a matcher takes what its input passes to it. A text or a map takes strings.
func checkData(p *lint.Pass, at lint.At, input, custom *xdscorev3.TypedExtensionConfig) {
	takes := matcherData[decode.TypeName(custom.GetTypedConfig().GetTypeUrl())]
	if strings.Contains(custom.GetTypedConfig().GetTypeUrl(), "dynamic_modules") {
		return // the module decides
	}
	passes := inputData[decode.TypeName(input.GetTypedConfig().GetTypeUrl())]
	if _, built := matchingFilter(p, at); !built || takes == passes {
		return
	}
	d := lint.Rejection{
		Message:  "the matcher does not take what this input passes to it",
		Help:     "a CelMatcher takes HttpAttributesCelMatchInput, a RequestMatcher takes RequestMatchInput, and all others take the other inputs",
		Upstream: "Unsupported data input type: " + cmp.Or(passes, "string"),
	}
	p.Reject(at.Field("input"), d)
}

// matcherPart is what a field of a matcher holds.
type matcherPart string

const (
	inputPart  matcherPart = "input"
	customPart matcherPart = "custom_match"
	treePart   matcherPart = "custom_match of a tree"
	actionPart matcherPart = "action"
)

var matcherFields = map[protoreflect.FullName]matcherPart{
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.input":        inputPart,
	"xds.type.matcher.v3.Matcher.MatcherTree.input":                                  inputPart,
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.custom_match": customPart,
	"xds.type.matcher.v3.Matcher.MatcherTree.custom_match":                           treePart,
	"xds.type.matcher.v3.Matcher.OnMatch.action":                                     actionPart,
}

// matchingFilter returns what the matcher that a place is in takes. built reports whether that is known, and Envoy builds the matcher when it
// loads the configuration.
func matchingFilter(p *lint.Pass, at lint.At) (filter filterMatcher, built bool) {
	for place := at.Place.Parent; place != nil; place = place.Parent {
		name := place.Message.Descriptor().FullName()
		if filter, ok := matchingFilters[name]; ok {
			built, _ := envoy.Validated(p.Target.Extensions(), place)
			return filter, built
		}
		if !strings.HasPrefix(string(name), "xds.type.matcher.v3.") && name != "xds.core.v3.TypedExtensionConfig" && name != "google.protobuf.Any" {
			break // custom matchers of the API have actions of their own
		}
	}
	return filterMatcher{}, false
}
