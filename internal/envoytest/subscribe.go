package envoytest

import (
	"fmt"
	"maps"
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// Subscribe adds listeners and clusters that refer to each route configuration, load assignment, certificate and validation context of r. Envoy requests
// only resources that something refers to, so without them it would not judge these.
func Subscribe(r Resources) (Resources, error) {
	all := maps.Clone(r)
	add := func(url string, m proto.Message, format string, args ...any) error {
		if err := protojson.Unmarshal(fmt.Appendf(nil, format, args...), m); err != nil {
			return err
		}
		packed, err := anypb.New(m)
		all[url] = append(slices.Clip(all[url]), packed)
		return err
	}
	for _, resource := range r[Routes] {
		name := resourceName(resource)
		if err := add(Listeners, &listenerv3.Listener{}, rdsStub, "envoytest-rds-"+name, name); err != nil {
			return nil, err
		}
	}
	for _, resource := range r[Endpoints] {
		name := resourceName(resource)
		if err := add(Clusters, &clusterv3.Cluster{}, edsStub, "envoytest-eds-"+name, name); err != nil {
			return nil, err
		}
	}
	for _, resource := range r[Secrets] {
		name := resourceName(resource)
		config := fmt.Sprintf(`"tlsCertificateSdsSecretConfigs": [{"name": %q, "sdsConfig": {"ads": {}, "resourceApiVersion": "V3"}}]`, name)
		secret := &tlsv3.Secret{}
		if resource.UnmarshalTo(secret) == nil && secret.GetValidationContext() != nil {
			config = fmt.Sprintf(`"validationContextSdsSecretConfig": {"name": %q, "sdsConfig": {"ads": {}, "resourceApiVersion": "V3"}}`, name)
		}
		if err := add(Clusters, &clusterv3.Cluster{}, sdsStub, "envoytest-sds-"+name, config); err != nil {
			return nil, err
		}
	}
	return all, nil
}

const (
	rdsStub = `{
		"name": %q, "address": {"socketAddress": {"address": "127.0.0.1", "portValue": 0}},
		"filterChains": [{"filters": [{"name": "hcm", "typedConfig": {
			"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
			"statPrefix": "s", "rds": {"routeConfigName": %q, "configSource": {"ads": {}, "resourceApiVersion": "V3"}},
			"httpFilters": [{"name": "router", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]
		}}]}]}`
	edsStub = `{"name": %q, "type": "EDS", "edsClusterConfig": {"serviceName": %q, "edsConfig": {"ads": {}, "resourceApiVersion": "V3"}}}`
	sdsStub = `{"name": %q, "transportSocket": {"name": "tls", "typedConfig": {
		"@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext", "commonTlsContext": {%s}}}}`
)
