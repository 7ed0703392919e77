package http

import (
	"fmt"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	jwtv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/jwt_authn/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "jwt-provider-invalid",
	Severity: lint.Error,
	Summary:  "a JWT provider has unusable keys, fetches them from an address that is not a URL, or passes on no claim",
	Links: []string{
		"validateJwtConfig (source/extensions/filters/http/jwt_authn/filter_factory.cc)",
		"FilterConfigImpl::FilterConfigImpl (source/extensions/filters/http/jwt_authn/filter_config.cc)",
	},
	Run: eachConfig(func(p *lint.Pass, at lint.At, m *jwtv3.JwtAuthentication) {
		for name, provider := range m.GetProviders() {
			checkKeysOf(p, at.Entry("providers", name), name, provider)
			checkClaims(p, at.Entry("providers", name), name, provider)
		}
	}),
})

func checkKeysOf(p *lint.Pass, at lint.At, name string, provider *jwtv3.JwtProvider) {
	if field, text, ok := inline(provider.GetLocalJwks()); ok && text != "" {
		if wrong := envoy.InvalidJWKS(text); wrong != "" {
			p.Reject(at.Field("local_jwks", field), lint.Rejection{
				Message:  "the JSON Web Key Set does not have a key that Envoy can use",
				Help:     `write {"keys": [{"kty": "RSA", "n": …, "e": …}]}, as the issuer serves it`,
				Upstream: fmt.Sprintf("Provider '%s' in jwt_authn config has invalid local jwks: %s", name, wrong),
			})
		}
	}
	if remote := provider.GetRemoteJwks(); remote != nil {
		checkURL(p, at.Field("remote_jwks", "http_uri", "uri"), remote.GetHttpUri().GetUri(), "Provider '"+name+"' has an invalid URI")
		checkBackOff(p, at.Field("remote_jwks", "retry_policy"), remote.GetRetryPolicy())
	}
}

// checkURL reports a text that is not an absolute URL. An empty one breaks a constraint.
// checkClaims checks which claim a header gets. Before 1.40, there was only claim_name, which a constraint requires.
func checkClaims(p *lint.Pass, at lint.At, name string, provider *jwtv3.JwtProvider) {
	for i, c := range provider.GetClaimToHeaders() {
		if named, path := c.GetClaimName() != "", len(c.GetClaimPath()) > 0; named == path && !p.Target.Before("1.40") {
			p.Reject(at.Item("claim_to_headers", i), lint.Rejection{
				Message:  "the header needs one of claim_name and claim_path",
				Help:     "write claim_name, or claim_path for a claim in another one",
				Upstream: fmt.Sprintf("Provider '%s' has a claim_to_headers entry for header '%s' which does not set exactly one of claim_name and claim_path", name, c.GetHeaderName()),
			})
		}
	}
}

func checkURL(p *lint.Pass, at lint.At, text, upstream string) {
	if text == "" || envoy.IsURL(text) {
		return
	}
	p.Reject(at, lint.Rejection{
		Message:  fmt.Sprintf("%q is not an absolute URL", text),
		Help:     "write the scheme, the host and the path: https://login.example.com/keys",
		Upstream: fmt.Sprintf("%s: '%s'", upstream, text),
	})
}

// checkBackOff reports a policy that Utility::validateCoreRetryPolicy rejects.
func checkBackOff(p *lint.Pass, at lint.At, policy *corev3.RetryPolicy) {
	checkIntervals(p, at.Field("retry_back_off"), policy.GetRetryBackOff(), "max_interval must be greater than or equal to the base_interval")
}

func checkIntervals(p *lint.Pass, at lint.At, b *corev3.BackoffStrategy, upstream string) {
	if b.GetMaxInterval() != nil && b.GetBaseInterval() != nil && b.GetMaxInterval().AsDuration().Milliseconds() < b.GetBaseInterval().AsDuration().Milliseconds() {
		p.Reject(at.Field("max_interval"), lint.Rejection{
			Message:  "max_interval is less than base_interval",
			Help:     "write a max_interval of at least base_interval",
			Upstream: upstream,
		})
	}
}
