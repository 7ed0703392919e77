package http

import (
	awsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/aws/v3"
	adaptivev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/adaptive_concurrency/v3"
	ondemandv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/on_demand/v3"
	maxmindv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/geoip_providers/maxmind/v3"
	aitranscoderv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/http/ai_filters/transcoder/v3"
	mtlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/principals/mtls_authenticated/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-incomplete",
	Severity: lint.Error,
	Summary:  "a filter lacks a setting that its code needs, although no constraint requires it",
	Links: []string{
		"GradientControllerConfig::GradientControllerConfig (source/extensions/filters/http/adaptive_concurrency/controller/gradient_controller.cc)",
		"MtlsAuthenticatedMatcher (source/extensions/filters/common/rbac/principals/mtls_authenticated/mtls_authenticated.cc)",
		"customCredentialsProviderChain (source/extensions/common/aws/credential_provider_chains.cc)",
		"source/extensions/filters/http/on_demand/on_demand_update.cc",
		"GeoipProviderConfig::GeoipProviderConfig (source/extensions/geoip_providers/maxmind/geoip_provider.cc)",
	},
	Run: read.Each(read.Of(minimumRTT), read.Of(mtlsPrincipal), read.Of(credentialChain), read.Of(geoDatabases), read.Of(transcodedWays),
		read.Of(clustersOnDemand)),
})

func minimumRTT(p *lint.Pass, at lint.At, m *adaptivev3.GradientControllerConfig_MinimumRTTCalculationParams) {
	if m.GetInterval() == nil && m.GetFixedValue() == nil {
		p.Reject(at, lint.Rejection{
			Message:  "the controller does not know when to measure the minimum round-trip time",
			Help:     "add interval or fixed_value",
			Upstream: "adaptive_concurrency: neither `concurrency_update_interval` nor `fixed_value` set",
		})
	}
}

func mtlsPrincipal(p *lint.Pass, at lint.At, m *mtlsv3.Config) {
	if m.GetSanMatcher() == nil && !m.GetAnyValidatedClientCertificate() {
		p.Reject(at, lint.Rejection{
			Message:  "the principal does not say which certificates it means",
			Help:     "add san_matcher, or any_validated_client_certificate: true",
			Upstream: "envoy.rbac.principals.mtls_authenticated did not have any configured validation. At least one configuration field must be set.",
		})
	}
}

func credentialChain(p *lint.Pass, at lint.At, m *awsv3.AwsCredentialProvider) {
	if m.GetCustomCredentialProviderChain() && proto.Equal(m, &awsv3.AwsCredentialProvider{CustomCredentialProviderChain: true}) {
		p.Reject(at.Field("custom_credential_provider_chain"), lint.Rejection{
			Message:  "the chain of credential providers is empty",
			Help:     "add a provider, such as environment_credential_provider: {}, or remove custom_credential_provider_chain",
			Upstream: "Custom credential provider chain must have at least one credential provider",
		})
	}
}

func geoDatabases(p *lint.Pass, at lint.At, m *maxmindv3.MaxMindConfig) {
	if m.GetCityDbPath() == "" && m.GetIspDbPath() == "" && m.GetAsnDbPath() == "" && m.GetAnonDbPath() == "" && m.GetCountryDbPath() == "" {
		p.Reject(at, lint.Rejection{
			Message:  "the provider does not have a database",
			Help:     "add city_db_path, or the path of another database",
			Upstream: "At least one geolocation database path needs to be configured",
		})
	}
}

func transcodedWays(p *lint.Pass, at lint.At, m *aitranscoderv3.Transcoder) {
	if m.GetRequestHandling() == 0 && m.GetResponseHandling() == 0 {
		p.Reject(at, lint.Rejection{
			Message:  "the transcoder handles neither requests nor responses",
			Help:     "add request_handling or response_handling",
			Upstream: "ai_filters.transcoder: at least one of `request_handling` or `response_handling` must be set",
		})
	}
}

func clustersOnDemand(p *lint.Pass, at lint.At, m *ondemandv3.OnDemandCds) {
	if m.GetSource() == nil && m.GetResourcesLocator() == "" {
		p.Reject(at, lint.Rejection{
			Message:  "the filter does not say where clusters come from",
			Help:     "add source: {ads: {}}",
			Upstream: "Missing config source specifier in envoy::config::core::v3::ConfigSource",
		})
	}
}
