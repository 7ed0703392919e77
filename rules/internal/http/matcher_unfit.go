package http

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "matcher-unfit",
	Severity: lint.Error,
	Summary:  "the matcher of a filter has an input, a matcher or an action that this filter does not take",
	Links: []string{
		"MatchTreeFactory::create (source/common/matcher/matcher.h)",
		"ActionValidationVisitor::performDataInputValidation (source/extensions/filters/http/rbac/rbac_filter.cc)",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, _ protoreflect.Message) {
		wrapping := at.Place.Parent
		if wrapping == nil || envoy.FieldOf(wrapping) == nil {
			return
		}
		part, ok := matcherFields[envoy.FieldOf(wrapping).FullName()]
		name, holder := envoy.ExtensionType(at.Place), matchingFilter(wrapping)
		if !ok || holder == nil || name == "" {
			return
		}
		filter := matchingFilters[holder.Message.Descriptor().FullName()]
		if built, _ := envoy.Validated(p.Target.Extensions(), holder); !built || filter.takes(p, part, name) {
			return
		}
		upstream := fmt.Sprintf("with type URL: '%s'", name)
		if part == inputPart && slices.Contains(filter.not, name) {
			upstream = fmt.Sprintf("RBAC HTTP filter cannot match on 'type.googleapis.com/%s'", name)
		}
		p.Reject(wrapping.At().Field("typed_config", "@type"), lint.Rejection{
			Message:  fmt.Sprintf("%s cannot be the %s of this filter's matcher", name, part),
			Help:     filter.help(part),
			Upstream: upstream,
		})
	}, "google.protobuf.Any"),
})

// matcherPart is what a field of a matcher holds.
type matcherPart string

const (
	inputPart  matcherPart = "input"
	customPart matcherPart = "custom_match"
	actionPart matcherPart = "action"
)

var matcherFields = map[protoreflect.FullName]matcherPart{
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.input":        inputPart,
	"xds.type.matcher.v3.Matcher.MatcherTree.input":                                  inputPart,
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.custom_match": customPart,
	"xds.type.matcher.v3.Matcher.OnMatch.action":                                     actionPart,
}

// filterMatcher says what the matcher of a filter takes.
type filterMatcher struct {
	inputs  string                  // the category
	not     []protoreflect.FullName // inputs that the filter itself excludes
	actions []string                // types, or the beginnings of their names
}

// matchingFilters are the filters with a matcher whose actions are known.
var matchingFilters = map[protoreflect.FullName]filterMatcher{
	"envoy.extensions.filters.http.rbac.v3.RBAC": {
		"envoy.matching.http.input",
		[]protoreflect.FullName{
			"envoy.type.matcher.v3.HttpRequestTrailerMatchInput", "envoy.type.matcher.v3.HttpResponseHeaderMatchInput",
			"envoy.type.matcher.v3.HttpRequestQueryParamMatchInput", "envoy.type.matcher.v3.HttpResponseStatusCodeMatchInput",
			"envoy.type.matcher.v3.HttpResponseStatusCodeClassMatchInput",
		},
		[]string{"envoy.config.rbac.v3.Action"},
	},
	"envoy.extensions.filters.network.rbac.v3.RBAC": {"envoy.matching.network.input", nil, []string{"envoy.config.rbac.v3.Action"}},
	"envoy.extensions.filters.http.custom_response.v3.CustomResponse": {
		"envoy.matching.http.input", nil, []string{"envoy.extensions.http.custom_response."},
	},
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig": {
		"envoy.matching.http.input", nil, []string{"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaBucketSettings"},
	},
	"envoy.extensions.common.matching.v3.ExtensionWithMatcher": {"envoy.matching.http.input", nil, []string{
		"envoy.extensions.filters.common.matcher.action.v3.SkipFilter", "envoy.extensions.filters.http.composite.v3.ExecuteFilterAction",
	}},
}

func (f filterMatcher) takes(p *lint.Pass, part matcherPart, name protoreflect.FullName) bool {
	x := p.Target.Extensions()
	switch part {
	case inputPart:
		return !slices.Contains(f.not, name) && (envoy.Known(x, name, f.inputs) || envoy.Known(x, name, "envoy.matching.common_inputs"))
	case customPart:
		return envoy.Known(x, name, "envoy.matching.input_matchers")
	}
	if !strings.HasPrefix(string(name), "envoy.") && !strings.HasPrefix(string(name), "google.") {
		return true // it may be an action of another build
	}
	return slices.ContainsFunc(f.actions, func(prefix string) bool { return strings.HasPrefix(string(name), prefix) })
}

func (f filterMatcher) help(part matcherPart) string {
	switch part {
	case inputPart:
		return "use an extension of the category " + f.inputs
	case customPart:
		return "use an extension of the category envoy.matching.input_matchers, or value_match"
	}
	return "use " + strings.Join(f.actions, " or ")
}

// matchingFilter returns the filter whose own matcher a place is in.
func matchingFilter(place *graph.Place) *graph.Place {
	for place = place.Parent; place != nil; place = place.Parent {
		name := place.Message.Descriptor().FullName()
		if _, ok := matchingFilters[name]; ok {
			return place
		}
		if !strings.HasPrefix(string(name), "xds.type.matcher.v3.") {
			return nil
		}
	}
	return nil
}
