package bootstrap

import (
	"fmt"
	"slices"
	"strings"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	metricsv3 "github.com/envoyproxy/go-control-plane/envoy/config/metrics/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "stats-tag",
	Severity: lint.Error,
	Summary:  "a tag of stats_config does not have a name or a value, or its regular expression is invalid",
	Links: []string{
		"TagProducerImpl::TagProducerImpl (source/common/stats/tag_producer_impl.cc)",
		"TagExtractorImplBase::createTagExtractor (source/common/stats/tag_extractor_impl.cc)",
	},
	Run: each(func(p *lint.Pass, at lint.At, b *bootstrapv3.Bootstrap) {
		for i, tag := range b.GetStatsConfig().GetStatsTags() {
			checkTag(p, at.Field("stats_config").Item("stats_tags", i), tag)
		}
	}),
})

func checkTag(p *lint.Pass, at lint.At, tag *metricsv3.TagSpecifier) {
	name, regex := tag.GetTagName(), tag.GetRegex()
	if _, fixed := tag.GetTagValue().(*metricsv3.TagSpecifier_FixedValue); fixed {
		return
	}
	if regex == "" {
		if isKnownTag(p.Target, name) {
			return
		}
		upstream := fmt.Sprintf("No regex specified for tag specifier and no default regex for name: '%s'", name)
		help := "write a regex whose first group is the part to remove from a stat's name, or a fixed_value"
		if near := nearTag(name); near != "" {
			help = fmt.Sprintf("did you mean %q?", near)
		}
		p.Reject(at.Field("tag_name"), lint.Rejection{
			Message:  fmt.Sprintf("the tag %q does not have a value and is not one of Envoy's own tags", name),
			Help:     help,
			Upstream: upstream,
		})
		return
	}
	if name == "" {
		p.Reject(at.Field("tag_name"), lint.Rejection{
			Message:  "the tag does not have a name",
			Help:     "write tag_name",
			Upstream: "tag_name cannot be empty",
		})
		return
	}
	if fault := stdRegexFault(regex); fault != "" {
		p.Reject(at.Field("regex"), lint.Rejection{
			Message:  "std::regex rejects this regular expression: " + fault,
			Help:     "write the regular expression of a tag in ECMAScript syntax, not in that of RE2",
			Upstream: fmt.Sprintf("Invalid regex '%s'", regex),
		})
	}
}

// tagPrefix begins the names of Envoy's own tags.
const tagPrefix = "envoy."

func nearTag(name string) string {
	short, ok := strings.CutPrefix(name, tagPrefix)
	if !ok {
		return ""
	}
	for _, known := range knownTags {
		if strings.HasPrefix(known, short+"_") {
			return tagPrefix + known
		}
	}
	if near := lint.Nearest(short, knownTags); near != "" {
		return tagPrefix + near
	}
	return ""
}

// knownTags are the TagNames of the real Envoy.
var knownTags = strings.Fields(`clientssl_prefix cluster_name connection_limit_prefix dns_filter_prefix dynamo_operation dynamo_partition_id dynamo_table
	ext_authz_prefix fault_downstream_cluster google_grpc_client_prefix grpc_bridge_method grpc_bridge_service health_check_name http_conn_manager_prefix
	http_user_agent listener_address local_http_ratelimit_prefix local_listener_ratelimit_prefix local_network_ratelimit_prefix mongo_callsite mongo_cmd
	mongo_collection mongo_prefix proxy_protocol_prefix proxy_protocol_version ratelimit_prefix rbac_http_prefix rbac_policy_name rbac_prefix rds_route_config
	redis_prefix response_code response_code_class route scoped_rds_config ssl_cipher ssl_curve ssl_sigalg ssl_version tcp_prefix thrift_prefix
	tls_certificate udp_prefix virtual_cluster virtual_host worker_id xds_resource_name`)

// newTags maps tags to the versions of Envoy that do not have them yet.
var newTags = map[string][]string{"health_check_name": {"1.36", "1.37", "1.38", "1.39"}, "xds_resource_name": {"1.36"}}

func isKnownTag(t dataplane.Target, name string) bool {
	short, ok := strings.CutPrefix(name, tagPrefix)
	return ok && slices.Contains(knownTags, short) && !slices.Contains(newTags[short], t.Version)
}
