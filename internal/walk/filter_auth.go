package walk

import (
	"crypto/sha1" //nolint:gosec // what the passwords of the filter are hashed with
	"encoding/base64"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	basicauthv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/basic_auth/v3"
	jwtauthnv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// basicAuth follows BasicAuthFilter::decodeHeaders.
func basicAuth(j *journey, v visit) bool {
	config, _ := v.Config.(*basicauthv3.BasicAuth)
	source := config.GetUsers()
	if own, ok := v.own.(*basicauthv3.BasicAuthPerRoute); ok {
		source = own.GetUsers()
	}
	users, known := usersOf(source)
	if !known {
		return j.perhaps(v, "users that are not in the input")
	}
	name := config.GetAuthenticationHeader()
	if name == "" {
		name = "authorization"
	}
	details := ""
	switch user, password, problem := credential(j.headers.values(name)); {
	case problem != "":
		details = problem
	case users[user] != hash(password):
		details = "invalid_credential_for_basic_auth"
	default:
		if forward := config.GetForwardUsernameHeader(); forward != "" {
			j.headers.change(forward)
			j.headers.set(forward, user)
		}
		return true
	}
	j.challenge("Basic")
	return j.answers(401, details, "-")
}

// challenge notes the www-authenticate of a denial.
func (j *journey) challenge(kind string) {
	j.says("www-authenticate", kind+` realm="`+j.headers.value(scheme)+"://"+j.headers.value(authority)+j.headers.value(path)+`"`)
}

// usersOf returns the hashes of users, as htpasswd writes them.
func usersOf(source *corev3.DataSource) (users map[string]string, known bool) {
	text := source.GetInlineString() + string(source.GetInlineBytes())
	users = map[string]string{}
	for line := range strings.Lines(text) {
		if name, rest, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			users[name] = strings.TrimPrefix(rest, "{SHA}")
		}
	}
	return users, text != ""
}

func hash(password string) string {
	sum := sha1.Sum([]byte(password)) //nolint:gosec // the same
	return base64.StdEncoding.EncodeToString(sum[:])
}

// credential returns the user and the password of a request, or the details of what is wrong with them.
func credential(values []string) (user, password, problem string) {
	if len(values) == 0 {
		return "", "", "no_credential_for_basic_auth"
	}
	encoded, ok := strings.CutPrefix(values[0], "Basic ")
	if !ok {
		return "", "", "invalid_scheme_for_basic_auth"
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
	user, password, ok = strings.Cut(string(raw), ":")
	if err != nil || !ok {
		return "", "", "invalid_format_for_basic_auth"
	}
	return user, password, ""
}

// jwtAuthn follows Filter::decodeHeaders of jwt_authn. A request with a token needs keys that only Envoy has, one without a token does not.
func jwtAuthn(j *journey, v visit) bool {
	config, _ := v.Config.(*jwtauthnv3.JwtAuthentication)
	if config.GetBypassCorsPreflight() && isPreflight(j.headers) {
		return true
	}
	required, _, decided := j.requirement(config, v, v.Own)
	if !decided {
		return j.perhaps(v, "filter state or a matcher that is not known")
	}
	switch j.judge(config, required) {
	case tokenMissing:
		j.challenge("Bearer")
		return j.answers(401, "jwt_authn_access_denied{Jwt_is_missing}", "-")
	case tokenGiven:
		return j.perhaps(v, "the token of the request")
	}
	return true
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
	if config.GetFilterStateRules() != nil {
		return nil, v.Own, false
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
	return nil, v.Own, true
}

// verdict is what is known about a requirement.
type verdict int

const (
	satisfied verdict = iota
	tokenMissing
	tokenGiven
)

// judge reports whether a request without a token fits a requirement (Verifier::create).
func (j *journey) judge(config *jwtauthnv3.JwtAuthentication, r *jwtauthnv3.JwtRequirement) verdict {
	switch by := r.GetRequiresType().(type) {
	case *jwtauthnv3.JwtRequirement_ProviderName:
		return j.token(config.GetProviders()[by.ProviderName])
	case *jwtauthnv3.JwtRequirement_ProviderAndAudiences:
		return j.token(config.GetProviders()[by.ProviderAndAudiences.GetProviderName()])
	case *jwtauthnv3.JwtRequirement_RequiresAny:
		worst := tokenMissing
		for _, each := range by.RequiresAny.GetRequirements() {
			switch j.judge(config, each) {
			case satisfied:
				return satisfied
			case tokenGiven:
				worst = tokenGiven
			}
		}
		return worst
	case *jwtauthnv3.JwtRequirement_RequiresAll:
		for _, each := range by.RequiresAll.GetRequirements() {
			if found := j.judge(config, each); found != satisfied {
				return found
			}
		}
	case *jwtauthnv3.JwtRequirement_AllowMissing:
		for _, p := range config.GetProviders() {
			if j.token(p) == tokenGiven {
				return tokenGiven
			}
		}
	}
	return satisfied
}

// token reports whether a request has a token for a provider (Extractor).
func (j *journey) token(p *jwtauthnv3.JwtProvider) verdict {
	_, query := splitQuery(j.headers.value(path))
	parameters := parseQuery(query)
	byDefault := len(p.GetFromHeaders()) == 0 && len(p.GetFromParams()) == 0 && len(p.GetFromCookies()) == 0
	given := byDefault && (strings.HasPrefix(j.headers.value("authorization"), "Bearer ") || parameters["access_token"] != "")
	for _, h := range p.GetFromHeaders() {
		given = given || j.headers.has(h.GetName())
	}
	for _, name := range p.GetFromParams() {
		given = given || parameters[name] != ""
	}
	for _, name := range p.GetFromCookies() {
		_, has := j.cookie(name)
		given = given || has
	}
	if given {
		return tokenGiven
	}
	return tokenMissing
}
