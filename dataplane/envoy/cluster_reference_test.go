package envoy

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/xdslint/xdslint/graph"
	_ "github.com/xdslint/xdslint/internal/decode/linked"
)

// withoutRole are the fields with the role FilterCluster, because no other role fits. Add a new field here or to roleByField, depending on
// what Envoy does if the cluster is missing.
var withoutRole = []protoreflect.FullName{
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

func TestEveryReferenceHasARole(t *testing.T) {
	fields := graph.ClusterFields()
	for _, field := range fields {
		_, hasRole := roleByField[field]
		if hasRole == slices.Contains(withoutRole, field) {
			t.Errorf("%s: it must have a role (%t) or be in withoutRole, not both", field, hasRole)
		}
	}
	for field := range roleByField {
		if !slices.Contains(fields, field) {
			t.Errorf("%s has a role and is not a reference to a cluster", field)
		}
	}
	for field := range noteByField {
		if !slices.Contains(fields, field) {
			t.Errorf("%s has a note and is not a reference to a cluster", field)
		}
	}
	for name, role := range roleAround {
		if _, err := protoregistry.GlobalTypes.FindMessageByName(name); err != nil {
			t.Errorf("%s (%d): %v", name, role, err)
		}
	}
}
