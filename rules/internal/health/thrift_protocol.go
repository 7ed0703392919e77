package health

import (
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	thriftv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/thrift_proxy/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/dynamic"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/each"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "thrift-protocol",
	Severity: lint.Error,
	Summary:  "a Thrift health check does not select its transport or protocol, or selects ones that it cannot use",
	Links:    []string{"ThriftHealthChecker (source/extensions/health_checkers/thrift/thrift.cc)"},
	Run: each.Cluster(func(p *lint.Pass, at lint.At, c *clusterv3.Cluster) {
		for i, check := range c.GetHealthChecks() {
			m, where := envoy.Content(at.Item("health_checks", i).Field("custom_health_check", "typed_config"), check.GetCustomHealthCheck().GetTypedConfig())
			if dynamic.TypeName(m) == "envoy.extensions.health_checkers.thrift.v3.Thrift" {
				checkThrift(p, where, m, envoy.ClusterFactory(p.Target.Extensions(), c) == envoy.ClusterStatic && hasHosts(c))
			}
		}
	}),
})

func checkThrift(p *lint.Pass, at lint.At, m proto.Message, sends bool) {
	const upstream = "Unsupported transport or protocol in thrift health check configuration"
	transport, protocol := thriftv3.TransportType(number(m, "transport")), thriftv3.ProtocolType(number(m, "protocol"))
	switch {
	case transport == thriftv3.TransportType_AUTO_TRANSPORT:
		p.Reject(at.Field("transport"), lint.Rejection{
			Message:  "a Thrift health check needs a transport",
			Help:     "write transport: FRAMED, UNFRAMED or HEADER",
			Upstream: upstream,
		})
	case protocol == thriftv3.ProtocolType_AUTO_PROTOCOL:
		p.Reject(at.Field("protocol"), lint.Rejection{
			Message:  "a Thrift health check needs a protocol",
			Help:     "write protocol: BINARY, LAX_BINARY or COMPACT",
			Upstream: upstream,
		})
	case protocol == thriftv3.ProtocolType_TWITTER: //nolint:staticcheck // deprecated, and refused
		p.Reject(at.Field("protocol"), lint.Rejection{
			Message:  fmt.Sprintf("a Thrift health check cannot use %s", protocol),
			Help:     "write protocol: BINARY, LAX_BINARY or COMPACT",
			Upstream: upstream,
		})
	case transport == thriftv3.TransportType_HEADER && protocol == thriftv3.ProtocolType_LAX_BINARY && sends:
		p.Reject(at.Field("protocol"), lint.Rejection{
			Message:  "the transport HEADER cannot carry LAX_BINARY",
			Help:     "write protocol: BINARY or COMPACT",
			Upstream: "invalid header transport protocol binary/non-strict",
		})
	}
}

func number(m proto.Message, field protoreflect.Name) protoreflect.EnumNumber {
	v, ok := dynamic.Value(m, field)
	if !ok {
		return 0
	}
	return v.Enum()
}

func hasHosts(c *clusterv3.Cluster) bool {
	for _, locality := range c.GetLoadAssignment().GetEndpoints() {
		if len(locality.GetLbEndpoints()) > 0 {
			return true
		}
	}
	return false
}
