package reference

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/xdslint/xdslint/graph"
	_ "github.com/xdslint/xdslint/graph/decode/linked"
	"github.com/xdslint/xdslint/lint"
)

// catchAll are the fields that ruleFilter takes since no other rule claims them. A new field of the table has to be put
// here or there, with a thought to what Envoy does where the cluster is missing.
var catchAll = []protoreflect.FullName{
	fieldEnvoyGrpc, // unless a message around it says otherwise
	fieldHTTPURI,   // the same
	"envoy.data.dns.v3.DnsTable.DnsEndpoint.cluster_name",
	"envoy.data.dns.v3.DnsTable.DnsServiceTarget.cluster_name",
	"envoy.extensions.filters.http.cache_v2.v3.CacheV2Config.override_upstream_cluster",
	"envoy.extensions.filters.http.gcp_authn.v3.GcpAuthnFilterConfig.cluster",
	"envoy.extensions.filters.http.health_check.v3.HealthCheck.cluster_min_healthy_percentages",
	"envoy.extensions.filters.http.mcp_router.v3.McpRouter.McpCluster.cluster",
	"envoy.extensions.filters.network.client_ssl_auth.v3.ClientSSLAuth.auth_api_cluster",
	"envoy.extensions.filters.network.kafka_mesh.v3alpha.KafkaClusterDefinition.cluster_name",
}

func TestEveryClusterIsClaimedByOneRule(t *testing.T) {
	fields := graph.ClusterFields()
	for _, field := range fields {
		claimed := ownerByField[field] != ""
		if claimed == slices.Contains(catchAll, field) {
			t.Errorf("%s: one rule claims it, or it is in the list of the catch-all; is: %q", field, ownerByField[field])
		}
	}
	for field := range ownerByField {
		if !slices.Contains(fields, field) {
			t.Errorf("%s is claimed and no reference to a cluster", field)
		}
	}
	for field := range noteByField {
		if !slices.Contains(fields, field) {
			t.Errorf("%s has a note and is no reference to a cluster", field)
		}
	}
	for name, rule := range ownerAround {
		if _, err := protoregistry.GlobalTypes.FindMessageByName(name); err != nil {
			t.Errorf("%s (%s): %v", name, rule, err)
		}
	}
}

func TestOwnersAreRules(t *testing.T) {
	owners := []string{ruleFilter}
	for _, rule := range ownerByField {
		owners = append(owners, rule)
	}
	for _, rule := range ownerAround {
		owners = append(owners, rule)
	}
	for _, rule := range owners {
		if !slices.ContainsFunc(Rules.Rules(), func(r *lint.Rule) bool { return r.Name == rule }) {
			t.Errorf("no rule is named %q", rule)
		}
	}
}
