package reference

import (
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-unknown-cluster",
	Severity: lint.Error,
	Summary:  "a filter or another extension calls a cluster that does not exist",
	Links: []string{
		"JwksFetcherImpl::fetch (source/extensions/filters/http/common/jwks_fetcher.cc)",
		"OAuth2ClientImpl::dispatchRequest (source/extensions/filters/http/oauth2/oauth_client.cc)",
	},
	Run: clusterRule(envoy.FilterCluster, "Envoy accepts it, and every call fails"),
})
