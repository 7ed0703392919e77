package walk

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacconfigv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	localratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	oauth2v3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/oauth2/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/ascii"
)

// guardExtAuthz follows Filter::decodeHeaders of ext_authz.
func guardExtAuthz(j *journey, v visit, g *Guard) {
	config, _ := v.Config.(*extauthzv3.ExtAuthz)
	if j.level == nil { // getPerRouteFlags
		g.is(Disabled, "it does not check requests without a route", v.Own)
		return
	}
	if own, ok := v.own.(*extauthzv3.ExtAuthzPerRoute); ok && own.GetDisabled() {
		g.is(Disabled, "it is disabled per route", g.At.Field("disabled"))
		return
	}
	g.At = v.Own
	enabled := match.Yes
	if p := config.GetFilterEnabled(); p != nil {
		enabled = j.fraction(p)
	}
	if config.GetFilterEnabledMetadata() != nil {
		enabled = min(enabled, match.Perhaps)
	}
	switch {
	case enabled != match.Yes && config.GetDenyAtDisable().GetDefaultValue().GetValue(): // it rejects the requests that it does not check
	case enabled == match.No:
		g.is(Disabled, "filter_enabled is 0 %", v.Own.Field("filter_enabled"))
	case enabled == match.Perhaps && config.GetFilterEnabledMetadata() != nil:
		g.is(Undecided, "it depends on metadata", v.Own.Field("filter_enabled_metadata"))
	case enabled == match.Perhaps:
		g.is(Undecided, "it runs for a share of the requests", v.Own.Field("filter_enabled"))
	case config.GetShadowMode():
		g.is(Open, "shadow_mode lets requests pass that the service denies", v.Own.Field("shadow_mode"))
	case config.GetFailureModeAllow():
		g.is(FailsOpen, "failure_mode_allow lets requests pass if the service does not answer", v.Own.Field("failure_mode_allow"))
	}
}

// guardJWT follows Filter::decodeHeaders of jwt_authn.
func guardJWT(j *journey, v visit, g *Guard) {
	config, _ := v.Config.(*jwtauthnv3.JwtAuthentication)
	if config.GetBypassCorsPreflight() && isPreflight(j.headers) {
		g.is(Exempt, "bypass_cors_preflight lets CORS preflights pass", v.Own.Field("bypass_cors_preflight"))
		return
	}
	required, at, decided := j.requirement(config, v, g.At)
	switch {
	case !decided:
		g.is(Undecided, "it depends on filter state, or on a matcher that is not known", v.Own)
	case required.GetRequiresType() == nil:
		g.is(Exempt, "no rule of it demands a token here", at)
	default:
		g.At, g.Asks = at, strings.Join(providers(required), ", ")
		if lax := lenient(required); lax != "" {
			g.is(Open, lax, at)
		}
	}
}

// providers returns the names of the providers in a requirement.
func providers(r *jwtauthnv3.JwtRequirement) (names []string) {
	inner := append(slices.Clone(r.GetRequiresAny().GetRequirements()), r.GetRequiresAll().GetRequirements()...)
	for _, name := range []string{r.GetProviderName(), r.GetProviderAndAudiences().GetProviderName()} {
		if name != "" {
			names = append(names, name)
		}
	}
	for _, each := range inner {
		names = append(names, providers(each)...)
	}
	return names
}

// lenient returns why a requirement lets a request without a token pass; empty: it does not.
func lenient(r *jwtauthnv3.JwtRequirement) string {
	switch by := r.GetRequiresType().(type) {
	case *jwtauthnv3.JwtRequirement_AllowMissing:
		return "allow_missing lets requests without a token pass"
	case *jwtauthnv3.JwtRequirement_AllowMissingOrFailed:
		return "allow_missing_or_failed lets requests without a valid token pass"
	case *jwtauthnv3.JwtRequirement_ExtractOnlyWithoutValidation:
		return "extract_only_without_validation does not verify tokens"
	case *jwtauthnv3.JwtRequirement_RequiresAny:
		for _, each := range by.RequiresAny.GetRequirements() {
			if why := lenient(each); why != "" {
				return why
			}
		}
	case *jwtauthnv3.JwtRequirement_RequiresAll:
		why := ""
		for _, each := range by.RequiresAll.GetRequirements() {
			if why = lenient(each); why == "" {
				return ""
			}
		}
		return why
	}
	return ""
}

// guardRBAC reports what the policies do with a request of an unknown client.
func guardRBAC(j *journey, v visit, g *Guard) {
	config, _ := v.Config.(*rbacv3.RBAC)
	rules := v.Own.Field("rules")
	if own, ok := v.own.(*rbacv3.RBACPerRoute); ok {
		config, rules = own.GetRbac(), g.At.Field("rbac", "rules")
	}
	switch {
	case config.GetMatcher() != nil:
		g.is(Undecided, "it has a matcher that is not modelled", g.At)
	case config.GetRules() == nil && (config.GetShadowRules() != nil || config.GetShadowMatcher() != nil):
		g.is(Open, "it has shadow rules only", g.At)
	case config.GetRules() == nil:
		g.is(Exempt, "it does not have rules", g.At)
	case config.GetRules().GetAction() == rbacconfigv3.RBAC_LOG:
		g.is(Open, "its action is LOG", rules.Field("action"))
	default:
		g.At = rules
		g.policies(j, config.GetRules(), rules)
	}
}

// policies looks for a policy that allows the request for any client, or that can deny it.
func (g *Guard) policies(j *journey, rules *rbacconfigv3.RBAC, at graph.At) {
	allows := rules.GetAction() == rbacconfigv3.RBAC_ALLOW
	for _, name := range slices.Sorted(maps.Keys(rules.GetPolicies())) {
		switch fits := j.policy(rules.GetPolicies()[name]); {
		case allows && fits == match.Yes:
			g.is(Exempt, fmt.Sprintf("its policy %q allows any client", name), at.Entry("policies", name))
			return
		case !allows && fits != match.No:
			return
		}
	}
	if !allows {
		g.is(Exempt, "no policy of it denies the request", at)
	}
}

// guardOAuth2 follows OAuth2Filter::decodeHeaders.
func guardOAuth2(j *journey, v visit, g *Guard) {
	made, _ := v.Config.(*oauth2v3.OAuth2)
	config, at := made.GetConfig(), v.Own.Field("config")
	if own, ok := v.own.(*oauth2v3.OAuth2PerRoute); ok {
		config, at = own.GetConfig(), g.At.Field("config")
	}
	g.At = at
	switch {
	case config == nil:
		g.is(Exempt, "it does not have a config", g.At)
		return
	case j.pathless:
		g.is(Undecided, "requests without a path are not modelled", g.At)
		return
	}
	for _, lax := range []struct {
		name  string
		state State
		why   string
	}{
		{"pass_through_matcher", Exempt, "pass_through_matcher lets the request pass, whatever its token is"},
		{"allow_failed_matcher", Open, "allow_failed_matcher lets the request pass without a login"},
	} {
		list := config.GetPassThroughMatcher()
		if lax.state == Open {
			list = config.GetAllowFailedMatcher()
		}
		for i, m := range list {
			switch j.fitsHeader(m, j.headers) {
			case match.Yes:
				g.is(lax.state, lax.why, at.Item(lax.name, i))
				return
			case match.Perhaps:
				g.is(Undecided, lax.name+" is not known to fit", at.Item(lax.name, i))
				return
			}
		}
	}
}

// guardLocalLimit follows Filter::decodeHeaders of local_ratelimit.
func guardLocalLimit(j *journey, v visit, g *Guard) {
	config := settings[*localratelimitv3.LocalRateLimit](v)
	switch {
	case config.GetTokenBucket() == nil:
		g.is(Exempt, "it does not have a token_bucket", g.At)
	default:
		g.shares(j, config.GetFilterEnabled(), config.GetFilterEnforced(), false)
	}
}

// guardLimit follows Filter::initiateCall of ratelimit.
func guardLimit(j *journey, v visit, g *Guard) {
	config, _ := v.Config.(*ratelimitv3.RateLimit)
	g.At = v.Own
	if j.level == nil {
		g.is(Exempt, "there is no route, and thus no rate_limits", g.At)
		return
	}
	if j.level.Route.GetRoute() == nil {
		g.is(Exempt, "the route answers the request itself", j.level.At)
		return
	}
	if cluster, known := j.cluster(j.answer.Target); cluster == nil && known && len(j.answer.Weighted) == 0 {
		g.is(Exempt, "the cluster of the route does not exist", j.level.At)
		return
	}
	all, _ := v.RateLimits(j.level)
	if len(all) == 0 {
		g.is(Exempt, "neither the route nor its virtual host has rate_limits for it", j.level.At)
		return
	}
	if !slices.ContainsFunc(all, func(l envoy.RateLimit) bool { return j.describes(l.Message) != match.No }) {
		g.is(Exempt, "none of the rate_limits has a descriptor for the request", all[0].At)
		return
	}
	g.shares(j, config.GetFilterEnabled(), config.GetFilterEnforced(), true)
	if g.State == Runs && !config.GetFailureModeDeny() && config.GetFailureModeDenyPercent() == nil {
		g.is(FailsOpen, "requests pass if the service does not answer, since failure_mode_deny is not set", v.Own)
	}
}

// describes reports whether a rate limit has a descriptor for the request (RateLimitPolicyEntryImpl::populateDescriptors).
func (j *journey) describes(l *routev3.RateLimit) match.Overlap {
	return allOf(l.GetActions(), func(a *routev3.RateLimit_Action) match.Overlap {
		switch by := a.GetActionSpecifier().(type) {
		case *routev3.RateLimit_Action_RequestHeaders_:
			return certain(by.RequestHeaders.GetSkipIfAbsent() || j.headers.has(ascii.Lower(by.RequestHeaders.GetHeaderName())))
		case *routev3.RateLimit_Action_HeaderValueMatch_:
			fits := j.fitsAll(by.HeaderValueMatch.GetHeaders(), j.headers)
			if expected := by.HeaderValueMatch.GetExpectMatch(); expected != nil && !expected.GetValue() {
				return match.Yes - fits
			}
			return fits
		case *routev3.RateLimit_Action_GenericKey_, *routev3.RateLimit_Action_DestinationCluster_, *routev3.RateLimit_Action_SourceCluster_:
			return match.Yes
		}
		return match.Perhaps
	})
}

// shares judges the shares of the requests that a rate limit counts and limits. otherwise is whether those that are not set are all.
func (g *Guard) shares(j *journey, enabled, enforced *corev3.RuntimeFractionalPercent, otherwise bool) {
	of := func(p *corev3.RuntimeFractionalPercent) match.Overlap {
		if p == nil {
			return certain(otherwise)
		}
		return j.fraction(p)
	}
	switch counts, limits := of(enabled), of(enforced); {
	case counts == match.No:
		g.is(Exempt, "filter_enabled is 0 %", g.At)
	case limits == match.No:
		g.is(Open, "filter_enforced is 0 %", g.At)
	case min(counts, limits) == match.Perhaps:
		g.is(Undecided, "it limits a share of the requests", g.At)
	}
}
