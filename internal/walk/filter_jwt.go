package walk

import (
	"maps"
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/jwt"
)

// jwtAuthn follows Filter::decodeHeaders of jwt_authn.
func jwtAuthn(j *journey, v visit) bool {
	config, _ := v.Config.(*jwtauthnv3.JwtAuthentication)
	if j.runtime.Guard("envoy.reloadable_features.jwt_authn_sanitize_payload_headers_filter_wide", true) {
		for _, p := range config.GetProviders() {
			j.sanitize(p)
		}
	}
	if config.GetBypassCorsPreflight() && isPreflight(j.headers) {
		return true
	}
	required, _, decided := j.requirement(config, v, v.Own)
	if own, ok := v.own.(*jwtauthnv3.PerRouteConfig); ok && !decided {
		names := strings.Join(slices.Sorted(maps.Keys(config.GetRequirementMap())), ",")
		return j.denies(403, "Wrong requirement_name: "+own.GetRequirementName()+". It should be one of ["+names+"]")
	}
	if !decided {
		return j.perhaps(v, "filter state or a matcher that is not known")
	}
	original := j.originalURI()
	c := &check{journey: j, config: config}
	fault, known := c.judge(required)
	switch {
	case !known:
		return j.perhaps(v, "keys that Envoy fetches, or that are not in the input")
	case fault == "":
		return !c.clears || j.chooseAgain()
	}
	if !config.GetStripFailureResponse() {
		challenge := `Bearer realm="` + original + `"`
		if fault != jwt.Missing {
			challenge += `, error="invalid_token"`
		}
		j.says("www-authenticate", challenge)
	}
	if fault == jwt.AudienceNotAllowed {
		return j.denies(403, string(fault))
	}
	return j.denies(401, string(fault))
}

func (j *journey) denies(status int, why string) bool {
	return j.answers(status, "jwt_authn_access_denied{"+strings.Join(strings.Fields(why), "_")+"}", "-")
}

// isPreflight reports whether a request is a CORS preflight to the filter.
func isPreflight(h *headers) bool {
	return h.value(method) == "OPTIONS" && h.value("origin") != "" && h.value("access-control-request-method") != ""
}

// requirement returns what a request has to have, nil if nothing, and what says so. perRoute is where the configuration of the route is.
func (j *journey) requirement(config *jwtauthnv3.JwtAuthentication, v visit, perRoute graph.At) (r *jwtauthnv3.JwtRequirement, at graph.At, decided bool) {
	if own, ok := v.own.(*jwtauthnv3.PerRouteConfig); ok {
		if own.GetDisabled() {
			return nil, perRoute.Field("disabled"), true
		}
		r, ok := config.GetRequirementMap()[own.GetRequirementName()]
		return r, perRoute.Field("requirement_name"), ok
	}
	for i, rule := range config.GetRules() {
		at := v.Own.Item("rules", i)
		made := match.NewRoute(&routev3.Route{Match: rule.GetMatch()}, func(held *anypb.Any) proto.Message {
			content, _ := envoy.Content(at.Field("match", "path_match_policy", "typed_config"), held)
			return content
		})
		asked := j.asked()
		asked.Plain = asked.Path // its rules see path parameters, whatever the route table says
		switch fits, _ := made.Fit(asked); fits {
		case match.Perhaps:
			return nil, at, false
		case match.Yes:
			if name := rule.GetRequirementName(); name != "" {
				return config.GetRequirementMap()[name], at, true
			}
			return rule.GetRequires(), at, true
		}
	}
	return nil, v.Own, config.GetFilterStateRules() == nil
}

// check holds a request to requirements.
type check struct {
	*journey
	config *jwtauthnv3.JwtAuthentication
	clears bool // the cache of the route, at the end
}

// judge returns what is wrong with the tokens of the request (Verifier::create). known is false if that depends on keys that are not known.
func (c *check) judge(r *jwtauthnv3.JwtRequirement) (fault jwt.Fault, known bool) {
	all := slices.Sorted(maps.Keys(c.config.GetProviders()))
	switch by := r.GetRequiresType().(type) {
	case *jwtauthnv3.JwtRequirement_ProviderName:
		return c.verify(&demand{providers: []string{by.ProviderName}})
	case *jwtauthnv3.JwtRequirement_ProviderAndAudiences:
		p := by.ProviderAndAudiences
		return c.verify(&demand{providers: []string{p.GetProviderName()}, audiences: p.GetAudiences()})
	case *jwtauthnv3.JwtRequirement_RequiresAny:
		return c.any(by.RequiresAny.GetRequirements())
	case *jwtauthnv3.JwtRequirement_RequiresAll:
		for _, each := range by.RequiresAll.GetRequirements() {
			if fault, known = c.judge(each); fault != "" || !known {
				return fault, known
			}
		}
	case *jwtauthnv3.JwtRequirement_AllowMissing:
		return c.verify(&demand{providers: all, byIssuer: true, missing: true})
	case *jwtauthnv3.JwtRequirement_AllowMissingOrFailed:
		return c.verify(&demand{providers: all, byIssuer: true, missing: true, failed: true})
	case *jwtauthnv3.JwtRequirement_ExtractOnlyWithoutValidation:
		return "", false
	}
	return "", true
}

// any follows AnyVerifierImpl.
func (c *check) any(list []*jwtauthnv3.JwtRequirement) (fault jwt.Fault, known bool) {
	missing, failed, judged, doubtful := false, false, false, false
	result := jwt.Missing
	for _, each := range list {
		switch each.GetRequiresType().(type) {
		case *jwtauthnv3.JwtRequirement_AllowMissing:
			missing = true
			continue
		case *jwtauthnv3.JwtRequirement_AllowMissingOrFailed:
			failed = true
			continue
		}
		judged = true
		fault, known := c.judge(each)
		switch {
		case known && fault == "":
			return "", true
		case !known:
			doubtful = true
		case fault != jwt.Missing && fault != jwt.UnknownIssuer || result == jwt.Missing:
			result = fault
		}
	}
	switch {
	case !judged && failed:
		return c.judge(&jwtauthnv3.JwtRequirement{RequiresType: &jwtauthnv3.JwtRequirement_AllowMissingOrFailed{}})
	case !judged && missing:
		return c.judge(&jwtauthnv3.JwtRequirement{RequiresType: &jwtauthnv3.JwtRequirement_AllowMissing{}})
	case failed:
		return "", !doubtful // known: the headers, too
	case missing && result == jwt.Missing:
		return "", !doubtful
	}
	return result, !doubtful
}
