package listener

import (
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerlimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/local_ratelimit/v3"
	dubbov3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/dubbo_proxy/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ext_proc/v3"
	locallimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/local_ratelimit/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	thriftv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/thrift_proxy/v3"
	zookeeperv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/zookeeper_proxy/v3"
	typev3 "github.com/envoyproxy/go-control-plane/envoy/type/v3"

	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "network-filter-conflict",
	Severity: lint.Error,
	Summary:  "a network or listener filter has settings that cannot be combined, or a value that its code rejects",
	Links: []string{
		"Config::SharedConfig::SharedConfig (source/common/tcp_proxy/tcp_proxy.cc)",
		"ConfigImpl::ConfigImpl (source/extensions/filters/network/thrift_proxy/config.cc)",
		"ConfigImpl::ConfigImpl (source/extensions/filters/network/dubbo_proxy/config.cc)",
		"ZooKeeperConfigFactory::createFilterFactoryFromProtoTyped (source/extensions/filters/network/zookeeper_proxy/config.cc)",
	},
	Run: read.Each(read.Of(tcpProxy), read.Of(thriftProxy), read.Of(thriftMatch), read.Of(dubboProxy), read.Of(zookeeper),
		read.Of(networkLimit), read.Of(listenerLimit), read.Of(networkProcessor)),
})

// exclude reports a field that another field excludes.
func exclude(p *lint.Pass, at lint.At, field, other, help, upstream string) {
	p.Reject(at.Field(field).Key(), lint.Rejection{
		Message:  field + " cannot be combined with " + other,
		Help:     help,
		Upstream: upstream,
		Related:  []lint.Related{lint.RelatedTo(at.Field(other).Key(), "the other one")},
	})
}

func tcpProxy(p *lint.Pass, at lint.At, m *tcpproxyv3.TcpProxy) {
	for i, entry := range m.GetProxyProtocolTlvs() {
		checkEntry(p, at.Item("proxy_protocol_tlvs", i), entry)
	}
	if m.GetAccessLogOptions() == nil {
		return
	}
	const help = "move it to access_log_options"
	if m.GetFlushAccessLogOnConnected() { //nolint:staticcheck // deprecated, and that is the point
		exclude(p, at, "flush_access_log_on_connected", "access_log_options", help,
			"Only one of flush_access_log_on_connected or access_log_options can be specified.")
	}
	if m.GetAccessLogFlushInterval() != nil { //nolint:staticcheck // deprecated, and that is the point
		exclude(p, at, "access_log_flush_interval", "access_log_options", help,
			"Only one of access_log_flush_interval or access_log_options can be specified.")
	}
}

// checkEntry checks an entry (TLV) of a PROXY protocol header.
func checkEntry(p *lint.Pass, at lint.At, entry *corev3.TlvEntry) {
	switch {
	case len(entry.GetValue()) > 0 && entry.GetFormatString() != nil:
		exclude(p, at, "format_string", "value", "keep one of them", "Invalid TLV configuration: only one of 'value' or 'format_string' may be set.")
	case len(entry.GetValue()) == 0 && entry.GetFormatString() == nil:
		p.Reject(at, lint.Rejection{
			Message:  "the entry does not have a value",
			Help:     "add value, in base64, or format_string",
			Upstream: "Invalid TLV configuration: one of 'value' or 'format_string' must be set.",
		})
	}
}

func thriftProxy(p *lint.Pass, at lint.At, m *thriftv3.ThriftProxy) {
	if m.GetTrds() != nil && m.GetRouteConfig() != nil {
		exclude(p, at, "route_config", "trds", "keep one of them", "both trds and route_config is present in ThriftProxy")
	}
}

func thriftMatch(p *lint.Pass, at lint.At, m *thriftv3.RouteMatch) {
	if !m.GetInvert() || m.GetMethodName() != "" || m.GetServiceName() != "" {
		return
	}
	what := "method"
	if _, ok := m.GetMatchSpecifier().(*thriftv3.RouteMatch_ServiceName); ok {
		what = "service"
	}
	p.Reject(at.Field("invert"), lint.Rejection{
		Message:  "the route matches nothing: an empty " + what + "_name means all, and invert is set",
		Help:     "write a name, or remove invert",
		Upstream: "Cannot have an empty " + what + " name with inversion enabled",
	})
}

func dubboProxy(p *lint.Pass, at lint.At, m *dubbov3.DubboProxy) {
	switch {
	case len(m.GetRouteConfig()) == 0:
	case m.GetDrds() != nil:
		exclude(p, at, "route_config", "drds", "keep one of them", "both drds and route_config is present in DubboProxy")
	case m.GetMultipleRouteConfig() != nil:
		exclude(p, at, "route_config", "multiple_route_config", "keep one of them", "both mutiple_route_config and route_config is present in DubboProxy")
	}
}

func zookeeper(p *lint.Pass, at lint.At, m *zookeeperv3.ZooKeeperProxy) {
	seen := map[zookeeperv3.LatencyThresholdOverride_Opcode]int{}
	for i, o := range m.GetLatencyThresholdOverrides() {
		before, twice := seen[o.GetOpcode()]
		if !twice {
			seen[o.GetOpcode()] = i
			continue
		}
		p.Reject(at.Item("latency_threshold_overrides", i).Field("opcode"), lint.Rejection{
			Message:  "two thresholds are for the opcode " + o.GetOpcode().String(),
			Help:     "remove one of them",
			Upstream: "Duplicated opcode find in config",
			Related:  []lint.Related{lint.RelatedTo(at.Item("latency_threshold_overrides", before), "the first one")},
		})
	}
}

func networkLimit(p *lint.Pass, at lint.At, m *locallimitv3.LocalRateLimit) {
	checkBucket(p, at, m.GetTokenBucket())
}

func listenerLimit(p *lint.Pass, at lint.At, m *listenerlimitv3.LocalRateLimit) {
	checkBucket(p, at, m.GetTokenBucket())
}

// checkBucket follows LocalRateLimiterImpl::LocalRateLimiterImpl. A bucket that is never filled is valid.
func checkBucket(p *lint.Pass, at lint.At, bucket *typev3.TokenBucket) {
	if every := bucket.GetFillInterval().AsDuration(); every >= time.Millisecond && every < 50*time.Millisecond {
		p.Reject(at.Field("token_bucket", "fill_interval"), lint.Rejection{
			Message:  "the bucket fills more often than every 50 ms",
			Help:     "write a fill_interval of at least 0.050s, and more tokens_per_fill",
			Upstream: "local rate limit token bucket fill timer must be >= 50ms",
		})
	}
}

func networkProcessor(p *lint.Pass, at lint.At, m *extprocv3.NetworkExternalProcessor) {
	if m.GetGrpcService() == nil {
		p.Reject(at, lint.Rejection{
			Message:  "ext_proc does not have a service",
			Help:     "add grpc_service",
			Upstream: "A grpc_service must be configured",
		})
	}
}
