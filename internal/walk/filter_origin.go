package walk

import (
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	corsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cors/v3"
	csrfv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/csrf/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// corsPolicy is what the policies of the filter and the older ones of routes have in common.
type corsPolicy interface {
	GetAllowOriginStringMatch() []*matcherv3.StringMatcher
	GetAllowMethods() string
	GetAllowHeaders() string
	GetExposeHeaders() string
	GetMaxAge() string
	GetAllowCredentials() *wrapperspb.BoolValue
	GetAllowPrivateNetworkAccess() *wrapperspb.BoolValue
	GetForwardNotMatchingPreflights() *wrapperspb.BoolValue
	GetShadowEnabled() *corev3.RuntimeFractionalPercent
}

// cors follows CorsFilter::decodeHeaders. Each setting is that of the most specific policy that has it.
func cors(j *journey, v visit) bool {
	policies := j.corsPolicies(v)
	origin := j.headers.value("origin")
	if len(policies) == 0 || origin == "" {
		return true
	}
	switch j.corsEnabled(policies[0]) {
	case match.No:
		return true
	case match.Perhaps:
		return j.perhaps(v, "a share of the traffic")
	}
	allowed := j.allowsOrigin(policies, origin)
	if allowed == match.Perhaps {
		return j.perhaps(v, "a regular expression that is not known")
	}
	asked := j.headers.value("access-control-request-method")
	if allowed == match.Yes {
		j.says("access-control-allow-origin", origin)
		j.says("access-control-expose-headers", firstText(policies, corsPolicy.GetExposeHeaders))
	}
	preflight := j.headers.value(method) == "OPTIONS" && asked != "" && (allowed == match.Yes || !decides(policies, corsPolicy.GetForwardNotMatchingPreflights, true))
	if (allowed == match.Yes || preflight) && decides(policies, corsPolicy.GetAllowCredentials, false) {
		j.says("access-control-allow-credentials", "true")
	}
	return !preflight || j.preflight(policies)
}

// corsPolicies returns the policies, the most specific one first. Requests that Envoy answers by itself do not have any.
func (j *journey) corsPolicies(v visit) (all []corsPolicy) {
	if j.level == nil || j.level.Route.GetRoute() == nil {
		return nil
	}
	for _, own := range j.all(v.Message.GetName()) {
		if p, ok := own.(*corsv3.CorsPolicy); ok {
			all = append(all, p)
		}
	}
	if len(all) > 0 {
		return all
	}
	for _, p := range []*routev3.CorsPolicy{j.level.Route.GetRoute().GetCors(), j.level.Host.GetCors()} { //nolint:staticcheck // deprecated, and in use
		if p != nil {
			all = append(all, p)
		}
	}
	return all
}

// corsEnabled follows CorsPolicyImplBase::enabled, which is on without a setting.
func (j *journey) corsEnabled(p corsPolicy) match.Overlap {
	var f *corev3.RuntimeFractionalPercent
	switch p := p.(type) {
	case *corsv3.CorsPolicy:
		f = p.GetFilterEnabled()
	case *routev3.CorsPolicy:
		f = p.GetFilterEnabled()
	}
	if f == nil {
		return match.Yes
	}
	return j.fraction(f)
}

func (j *journey) allowsOrigin(policies []corsPolicy, origin string) match.Overlap {
	for _, p := range policies {
		if len(p.GetAllowOriginStringMatch()) == 0 {
			continue
		}
		fits := match.No
		for _, m := range p.GetAllowOriginStringMatch() {
			fits = max(fits, j.fitsText(m, "*"), j.fitsText(m, origin))
		}
		return fits
	}
	return match.No
}

// decides returns what the most specific policy says that says something.
func decides(policies []corsPolicy, get func(corsPolicy) *wrapperspb.BoolValue, otherwise bool) bool {
	for _, p := range policies {
		if said := get(p); said != nil {
			return said.GetValue()
		}
	}
	return otherwise
}

// preflight answers a request that asks what is allowed.
func (j *journey) preflight(policies []corsPolicy) bool {
	j.says("access-control-allow-methods", j.echoed(firstText(policies, corsPolicy.GetAllowMethods), "access-control-request-method"))
	j.says("access-control-allow-headers", j.echoed(firstText(policies, corsPolicy.GetAllowHeaders), "access-control-request-headers"))
	j.says("access-control-max-age", firstText(policies, corsPolicy.GetMaxAge))
	if j.headers.value("access-control-request-private-network") == "true" && decides(policies, corsPolicy.GetAllowPrivateNetworkAccess, false) {
		j.says("access-control-allow-private-network", "true")
	}
	return j.answers(200, "cors_response", "-")
}

// echoed returns a header of the request in place of a star.
func (j *journey) echoed(text, name string) string {
	if text == "*" {
		return j.headers.value(name)
	}
	return text
}

func firstText(policies []corsPolicy, get func(corsPolicy) string) string {
	for _, p := range policies {
		if text := get(p); text != "" {
			return text
		}
	}
	return ""
}

// says notes a header that a filter adds to the response.
func (j *journey) says(name, value string) {
	if value != "" {
		j.response.change(name)
		j.response.set(name, value)
	}
}

// csrf follows CsrfFilter::decodeHeaders.
func csrf(j *journey, v visit) bool {
	policy := settings[*csrfv3.CsrfPolicy](v)
	enabled := j.fraction(policy.GetFilterEnabled())
	switch m := j.headers.value(method); {
	case enabled == match.No || m != "POST" && m != "PUT" && m != "DELETE" && m != "PATCH":
		return true
	case enabled == match.Perhaps:
		return j.perhaps(v, "a share of the traffic")
	}
	source := ""
	if origin := j.headers.value("origin"); origin != "null" {
		if source = hostAndPort(origin); source == "" {
			source = hostAndPort(j.headers.value("referer"))
		}
	}
	if source != "" && source == hostAndPort(j.headers.value(scheme)+"://"+j.headers.value(authority)) {
		return true
	}
	fits := match.No
	for _, m := range policy.GetAdditionalOrigins() {
		if source != "" {
			fits = max(fits, j.fitsText(m, source))
		}
	}
	switch fits {
	case match.Yes:
		return true
	case match.Perhaps:
		return j.perhaps(v, "a regular expression that is not known")
	}
	return j.answers(403, "csrf_origin_mismatch", "-")
}

// hostAndPort returns the host of a URL with its port, or the text itself if it is not a URL.
func hostAndPort(text string) string {
	if _, name, _, ok := splitURL(text); ok {
		return name
	}
	return text
}
