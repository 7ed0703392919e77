package hardening

import (
	"slices"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	corsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cors/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cors-wildcard-credentials",
	Severity: lint.Warning,
	Summary:  "a CORS policy lets the pages of any site use the cookies of its visitors",
	Links: []string{
		"CorsFilter::isOriginAllowed (source/extensions/filters/http/cors/cors_filter.cc)",
		"https://fetch.spec.whatwg.org/#cors-protocol-and-credentials",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		policy := m.Interface().(interface {
			GetAllowOriginStringMatch() []*matcherv3.StringMatcher
			GetAllowCredentials() *wrapperspb.BoolValue
		})
		i := slices.IndexFunc(policy.GetAllowOriginStringMatch(), anyOrigin)
		if i < 0 || !policy.GetAllowCredentials().GetValue() || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		p.Report(at.Item("allow_origin_string_match", i), lint.Diagnostic{
			Message: "every site is allowed, with the credentials of the user",
			Notes:   []string{"a browser rejects * together with credentials, but Envoy answers with the origin of the request instead of *"},
			Help:    "list the origins that need credentials, or remove allow_credentials",
		})
	}, nameOf(&routev3.CorsPolicy{}), nameOf(&corsv3.CorsPolicy{})),
})

// anyOrigin reports whether a matcher is for all origins.
func anyOrigin(m *matcherv3.StringMatcher) bool {
	return m.GetExact() == "*" || slices.Contains([]string{".*", ".+", "^.*$", `\*`}, m.GetSafeRegex().GetRegex())
}
