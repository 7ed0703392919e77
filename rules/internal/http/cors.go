package http

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	corsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cors/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

// corsPolicy is a policy in either place: in the route, which is deprecated, or in a typed_per_filter_config.
type corsPolicy interface {
	GetAllowOriginStringMatch() []*matcherv3.StringMatcher
	GetAllowCredentials() *wrapperspb.BoolValue
}

// eachOrigin calls f for each matcher of origins in a CORS policy.
func eachOrigin(f func(p *lint.Pass, at lint.At, m *matcherv3.StringMatcher, policy corsPolicy)) lint.Check {
	return lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		if !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		policy := m.Interface().(corsPolicy)
		for i, origin := range policy.GetAllowOriginStringMatch() {
			f(p, at.Item("allow_origin_string_match", i), origin, policy)
		}
	}, nameOf(&routev3.CorsPolicy{}), nameOf(&corsv3.CorsPolicy{}))
}
