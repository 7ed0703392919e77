package route

import (
	"fmt"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "matcher-input-unfit",
	Severity: lint.Error,
	Summary:  "a virtual host's matcher has an input that cannot select a route",
	Links:    []string{"RouteActionValidationVisitor::performDataInputValidation (source/common/router/matcher_visitor.cc)"},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		if at.Place.Parent == nil {
			return
		}
		input := at.Place.Parent.At()
		if !inputs[holder(input)] || !inVirtualHost(input.Place) {
			return
		}
		name := envoy.ExtensionType(at.Place)
		x := p.Target.Extensions()
		if name == "" || envoy.RouteInput(x, name) {
			return
		}
		if _, ok := tableOf(p, input); !ok {
			return
		}
		upstream := fmt.Sprintf("Didn't find a registered implementation for '%s' with type URL: '%s'", stringOf(input, "name"), name)
		if envoy.Known(x, name, "envoy.matching.http.input") {
			upstream = fmt.Sprintf("Route table can only match on request headers, saw type.googleapis.com/%s", name)
		}
		p.Reject(input.Field("typed_config", "@type"), lint.Rejection{
			Message:  fmt.Sprintf("a virtual host's matcher cannot have the input %s", name),
			Help:     "match by HttpRequestHeaderMatchInput, and move other conditions to the routes",
			Upstream: upstream,
		})
	}, "google.protobuf.Any"),
})

// inputs are the fields that select the input of a matcher.
var inputs = map[protoreflect.FullName]bool{
	"xds.type.matcher.v3.Matcher.MatcherTree.input":                                      true,
	"xds.type.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.input":            true,
	"envoy.config.common.matcher.v3.Matcher.MatcherTree.input":                           true,
	"envoy.config.common.matcher.v3.Matcher.MatcherList.Predicate.SinglePredicate.input": true,
}

func stringOf(at lint.At, field protoreflect.Name) string {
	m := at.Place.Message
	return m.Get(m.Descriptor().Fields().ByName(field)).String()
}

// inVirtualHost reports whether a place is in the matcher of a virtual host itself, not inside one of its actions.
func inVirtualHost(place *graph.Place) bool {
	for place = place.Parent; place != nil; place = place.Parent {
		if _, ok := place.Message.Interface().(*routev3.VirtualHost); ok {
			return true
		}
		if place.Message.Descriptor().FullName() == "google.protobuf.Any" && !isTree(place) {
			return false
		}
	}
	return false
}

// isTree reports whether a place is the Any of a matcher tree, which is a part of the matcher around it.
func isTree(place *graph.Place) bool {
	if place.Parent == nil || !isAction(place) {
		return false
	}
	return envoy.FieldOf(place.Parent).Name() == "custom_match"
}
