package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-unknown-cluster",
	Severity: lint.Error,
	Summary:  "a filter or another extension calls a cluster that does not exist",
	Why: `Services that extensions call (the key set of a JWT issuer, an external processor, the token endpoint of OAuth2, remote Wasm code, a
cluster of a DNS table …) are looked up when they are called, not when the configuration is loaded. What comes of the failure depends on the extension:
JWTs cannot be verified and are refused, OAuth2 logins end with an error, an external processor fails the request.`,
	Links: []string{"JwksFetcherImpl::fetch (source/extensions/filters/http/common/jwks_fetcher.cc)", "OAuth2ClientImpl::dispatchRequest (source/extensions/filters/http/oauth2/oauth_client.cc)"},
	Run:   clusterRule(envoy.FilterCluster, "envoy accepts it, and every call fails"),
})
