package envoy

import (
	"slices"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/constraint"
	"github.com/xdslint/xdslint/internal/decode"
)

// Envoy validates a bootstrap and each resource that it receives as a whole, but not the content of the Anys in it. The factory of the
// extension that reads an Any validates its content (MessageUtil::downcastAndValidate). An Any that is not read is not validated.

// Validated reports whether Envoy validates the message at a place when it loads the configuration, and whether that includes field
// constraints: PGV skips some fields (constraint.Skip), but the checks of durations do not.
func Validated(x *dataplane.Extensions, at *graph.Place) (any, constraints bool) {
	constraints = true
	for ; !isContent(at) && at.Parent != nil; at = at.Parent {
		if fd := FieldOf(at); fd != nil && constraint.Skip(fd) {
			constraints = false
		}
	}
	if at.Parent == nil {
		return true, constraints
	}
	outer := EnclosingAny(at)
	if !Reads(x, outer) || !validatesContent(outer, at.Message.Descriptor().FullName()) {
		return false, false
	}
	return true, constraints
}

// ReadsDurations reports whether Envoy rejects the configuration for an invalid Duration in a message: Envoy validates the message, or
// converts the durations of a load balancing policy (TypedLoadBalancerFactory::loadConfig).
func ReadsDurations(x *dataplane.Extensions, at *graph.Place) bool {
	if validated, _ := Validated(x, at); validated {
		return true
	}
	for !isContent(at) && at.Parent != nil {
		at = at.Parent
	}
	outer := EnclosingAny(at)
	if outer == nil || !Reads(x, outer) {
		return false
	}
	p, _ := PointOf(outer)
	return slices.Contains(p.Categories, "envoy.load_balancing_policies")
}

// isContent reports whether a message is the content of an Any or a TypedStruct.
func isContent(at *graph.Place) bool {
	if at.Parent == nil {
		return false
	}
	outer := at.Parent.Message.Descriptor().FullName()
	return outer == anyName || decode.IsTypedStruct(outer)
}

// EnclosingAny returns the place of the Any around a place, or nil if there is none.
func EnclosingAny(at *graph.Place) *graph.Place {
	if at.Parent == nil {
		return nil
	}
	return at.Parent.Enclosing(anyName)
}

// unvalidatedFields are points where Envoy makes messages of the configurations but does not validate them before the
// first request needs them, or never.
var unvalidatedFields = map[protoreflect.FullName]bool{
	"envoy.config.route.v3.InternalRedirectPolicy.predicates": true, // InternalRedirectPolicyImpl::predicates, per request
	"envoy.config.route.v3.RetryPolicy.retry_host_predicate":  true, // RetryPolicyImpl::retryHostPredicates, per request
	"envoy.config.route.v3.RetryPolicy.retry_priority":        true, // RetryPolicyImpl::retryPriority, per request
	"envoy.config.trace.v3.Tracing.http":                      true, // MainImpl::initializeTracers makes no tracer
}

// unvalidatedTypes are configurations whose factories do not validate them.
var unvalidatedTypes = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.HealthCheck.GrpcHealthCheck":                                      true, // the health check's own fields count
	"envoy.config.core.v3.HealthCheck.HttpHealthCheck":                                      true,
	"envoy.config.core.v3.HealthCheck.TcpHealthCheck":                                       true,
	"envoy.config.route.v3.FilterConfig":                                                    true, // PerFilterConfigs, only unpacked
	"envoy.extensions.health_checkers.udp.v3.UdpHealthCheck":                                true,
	"envoy.extensions.http.cache.file_system_http_cache.v3.FileSystemHttpCacheConfig":       true,
	"envoy.extensions.http.cache_v2.file_system_http_cache.v3.FileSystemHttpCacheV2Config":  true,
	"envoy.extensions.matching.common_inputs.transport_socket.v3.EndpointMetadataInput":     true,
	"envoy.extensions.matching.common_inputs.transport_socket.v3.LocalityMetadataInput":     true,
	"envoy.extensions.matching.common_inputs.transport_socket.v3.TransportSocketNameAction": true,
	"envoy.extensions.quic.connection_debug_visitor.quic_stats.v3.Config":                   true,
	"envoy.extensions.rbac.matchers.upstream_ip_port.v3.UpstreamIpPortMatcher":              true,
	"envoy.extensions.transport_sockets.tls.v3.SPIFFECertValidatorConfig":                   true,
}

// validatesContent reports whether the extension that reads an Any validates its content.
func validatesContent(outer *graph.Place, name protoreflect.FullName) bool {
	p, _ := PointOf(outer)
	switch {
	case unvalidatedFields[p.Field] || unvalidatedTypes[name] || slices.Contains(p.Categories, "envoy.network.dns_resolver"):
		return false
	case slices.Contains(p.Categories, "envoy.load_balancing_policies"): // only one of these factories validates
		return name == "envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost"
	}
	_, swapped := p.Swapped(name)
	return !swapped
}

// Reads reports whether Envoy unpacks the content of an Any when it loads the configuration.
func Reads(x *dataplane.Extensions, outer *graph.Place) bool {
	p, ok := PointOf(outer)
	if !ok || Ignored(x, p, outer) {
		return false
	}
	if name := ExtensionType(outer); !p.Takes(x, name) && !IsFilterConfig(outer) {
		return false // Envoy rejects it for its type, or skips it because it is optional
	}
	around := EnclosingAny(outer)
	return around == nil || Reads(x, around)
}

// ExtensionType returns the type by which Envoy searches for an extension (Utility::getFactoryType): the type of an Any's content, or the
// type that a TypedStruct represents.
func ExtensionType(outer *graph.Place) protoreflect.FullName {
	name := decode.TypeName(stringField(outer.Message, 1))
	if decode.IsTypedStruct(name) {
		if content := outer.Resource.Contents[outer.Message.Interface()]; content != nil {
			return decode.TypeName(stringField(content.ProtoReflect(), 1))
		}
	}
	return name
}

func stringField(m protoreflect.Message, number protoreflect.FieldNumber) string {
	return m.Get(m.Descriptor().Fields().ByNumber(number)).String()
}

// IsFilterConfig reports whether an Any holds a FilterConfig, which wraps the configuration of a filter for a route.
func IsFilterConfig(outer *graph.Place) bool {
	return decode.TypeName(stringField(outer.Message, 1)) == "envoy.config.route.v3.FilterConfig"
}

// Ignored reports whether Envoy ignores an extension point, whatever its type.
func Ignored(x *dataplane.Extensions, p Point, outer *graph.Place) bool {
	if p.Holder == nil && !p.IsPerRoute() { // a patch: its surroundings are not known
		return p.Field == policyConfig || p.Field == clusterResolver || dependent[p.Field.Parent()]
	}
	switch p.Field {
	case policyConfig:
		return !selectedPolicy(x, p.Holder)
	case clusterResolver:
		c, _ := p.Holder.Message.Interface().(*clusterv3.Cluster)
		return !readsResolver(ClusterFactory(x, c))
	case "envoy.config.core.v3.ApiConfigSource.config_validators":
		if !subscribes(p.Holder) {
			return true
		}
	case "envoy.config.core.v3.BindConfig.local_address_selector":
		return unboundClusters(p.Holder)
	case "envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext.custom_validator_config":
		if v, ok := p.Holder.Message.Interface().(*tlsv3.CertificateValidationContext); ok && v.GetCustomValidatorConfig().GetName() == "envoy.tls.cert_validator.default" {
			return true // it does not have a configuration
		}
	}
	if RulesIgnored(p.Holder) {
		return true
	}
	for at := p.Holder; at != nil; at = at.Parent {
		switch fd := FieldOf(at); {
		case fd == nil:
			if at.Parent == nil && dependent[at.Message.Descriptor().FullName()] {
				return true
			}
		case fd.Name() == "default_validation_context":
			return true // Envoy checks it after it has merged the context from SDS over it
		case withoutDatagrams(at):
			return true
		}
	}
	if p.IsPerRoute() && outer.Parent != nil {
		f, ok := outer.Parent.Message.Interface().(*routev3.FilterConfig)
		return ok && f.GetDisabled()
	}
	return false
}

const (
	policyConfig    = "envoy.config.cluster.v3.LoadBalancingPolicy.Policy.typed_extension_config"
	clusterResolver = "envoy.config.cluster.v3.Cluster.typed_dns_resolver_config"
)

// dependent are messages whose extensions Envoy reads or not, depending on what is around them. Alone, they are only in a patch.
var dependent = map[protoreflect.FullName]bool{
	"envoy.config.core.v3.ApiConfigSource":         true,
	"envoy.config.core.v3.ConfigSource":            true,
	"envoy.config.listener.v3.QuicProtocolOptions": true,
	"envoy.config.listener.v3.UdpListenerConfig":   true,
}

// withoutDatagrams reports whether a place holds the UDP options of a listener that does not receive datagrams (ListenerImpl::buildUdpListenerFactory).
func withoutDatagrams(options *graph.Place) bool {
	if FieldOf(options).FullName() != "envoy.config.listener.v3.Listener.udp_listener_config" {
		return false
	}
	l, ok := options.Parent.Message.Interface().(*listenerv3.Listener)
	return ok && !isUDP(l)
}

// subscribes reports whether Envoy subscribes over gRPC with an ApiConfigSource when it loads the configuration: a service for load or health
// reports is not a source of resources, and the routes of scopes are requested when the scopes arrive.
func subscribes(source *graph.Place) bool {
	c, ok := source.Message.Interface().(*corev3.ApiConfigSource)
	if ok && c.GetApiType() != corev3.ApiConfigSource_GRPC && c.GetApiType() != corev3.ApiConfigSource_DELTA_GRPC {
		return false
	}
	for at := source; at != nil; at = at.Parent {
		if fd := FieldOf(at); fd != nil {
			switch fd.Name() {
			case "lrs_server", "load_stats_config", "hds_config":
				return false
			case "rds_config_source":
				return fd.Parent().Name() != "ScopedRoutes"
			}
		}
	}
	return true
}

// unboundClusters reports whether a bind config is the one for all clusters, and the bootstrap does not have a cluster that would use it.
func unboundClusters(bind *graph.Place) bool {
	for at := bind.Parent; at != nil; at = at.Parent {
		if b, ok := at.Message.Interface().(*bootstrapv3.Bootstrap); ok {
			return len(b.GetStaticResources().GetClusters()) == 0
		}
	}
	return false
}

// selectedPolicy reports whether a load balancing policy is the one that its cluster uses: the first of its list that Envoy has
// (ClusterInfoImpl::configureLbPolicies).
func selectedPolicy(x *dataplane.Extensions, policy *graph.Place) bool {
	if policy.Parent == nil {
		return false // there may be others before it
	}
	list, ok := policy.Parent.Message.Interface().(*clusterv3.LoadBalancingPolicy)
	if !ok {
		return true
	}
	for _, candidate := range list.GetPolicies() {
		name := decode.TypeName(candidate.GetTypedExtensionConfig().GetTypedConfig().GetTypeUrl())
		if Known(x, name, "envoy.load_balancing_policies") {
			return proto.Message(candidate) == policy.Message.Interface()
		}
	}
	return false
}

// Known reports whether a type configures an extension of a category that the target has.
func Known(x *dataplane.Extensions, name protoreflect.FullName, category string) bool {
	return Point{Categories: []string{category}}.Takes(x, name)
}

// OuterRead reports whether Envoy reads the message around a place when it loads the configuration.
func OuterRead(x *dataplane.Extensions, at *graph.Place) bool {
	around := EnclosingAny(at)
	return around == nil || Reads(x, around)
}
