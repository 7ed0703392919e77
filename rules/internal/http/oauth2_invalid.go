package http

import (
	"slices"
	"strings"

	oauth2v3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/oauth2/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "oauth2-invalid",
	Severity: lint.Error,
	Summary:  "an oauth2 filter has an invalid URL, or settings that cannot be combined",
	Links: []string{
		"OAuth2Config::createFilterFactoryFromProtoTyped (source/extensions/filters/http/oauth2/config.cc)",
		"FilterConfig::FilterConfig (source/extensions/filters/http/oauth2/filter.cc)",
	},
	Run: read.Each(read.Of(func(p *lint.Pass, at lint.At, m *oauth2v3.OAuth2) {
		if m.GetConfig() == nil && !perRoute(at) && p.Target.Before("1.38") {
			p.Reject(at, lint.Rejection{
				Message:  "the oauth2 filter does not have a config",
				Help:     "add config",
				Upstream: "config must be present for global config",
			})
		}
	}), read.Of(checkOAuth2)),
})

func checkOAuth2(p *lint.Pass, at lint.At, m *oauth2v3.OAuth2Config) {
	checkURL(p, at.Field("authorization_endpoint"), m.GetAuthorizationEndpoint(), "OAuth2 filter: invalid authorization endpoint URL")
	checkTokens(p, at, m)
	if m.GetCredentials() != nil && m.GetCredentials().GetTokenSecret() == nil && m.GetAuthType() != oauth2v3.OAuth2Config_TLS_CLIENT_AUTH && !p.Target.Before("1.38") {
		p.Reject(at.Field("credentials"), lint.Rejection{
			Message:  "there is no token_secret, by which Envoy authenticates to the server",
			Help:     "add token_secret; only auth_type: TLS_CLIENT_AUTH does without",
			Upstream: "token_secret is required when auth_type is not TLS_CLIENT_AUTH",
		})
	}
	if m.GetEndSessionEndpoint() != "" && !slices.Contains(m.GetAuthScopes(), "openid") {
		p.Reject(at.Field("end_session_endpoint").Key(), lint.Rejection{
			Message:  "end_session_endpoint needs OpenID Connect",
			Help:     "add openid to auth_scopes, or remove it",
			Upstream: "OAuth2 filter: end session endpoint is only supported for OpenID Connect.",
		})
	}
}

// checkTokens reports several settings that write the header Authorization. Since 1.39, an ID token can be one of them.
func checkTokens(p *lint.Pass, at lint.At, m *oauth2v3.OAuth2Config) {
	var fields []string
	if m.GetForwardBearerToken() {
		fields = append(fields, "forward_bearer_token")
	}
	if m.GetPreserveAuthorizationHeader() {
		fields = append(fields, "preserve_authorization_header")
	}
	if strings.EqualFold(m.GetForwardIdToken().GetHeader(), "authorization") && !p.Target.Before("1.39") {
		fields = append(fields, "forward_id_token")
	}
	if len(fields) < 2 {
		return
	}
	upstream := "at most one of forward_bearer_token, preserve_authorization_header, or forward_id_token (when forwarding the ID token on the Authorization header) may be set"
	if p.Target.Before("1.39") {
		upstream = "invalid combination of forward_bearer_token and preserve_authorization_header configuration"
	}
	p.Reject(at.Field(fields[1]).Key(), lint.Rejection{
		Message:  fields[1] + " cannot be combined with " + fields[0],
		Help:     "keep one of them: both decide what the header Authorization is",
		Upstream: upstream,
		Related:  []lint.Related{lint.RelatedTo(at.Field(fields[0]).Key(), "the other one")},
	})
}
