package listener

import (
	"fmt"
	"slices"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	dnsv3 "github.com/envoyproxy/go-control-plane/envoy/data/dns/v3"
	proxyprotocolv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/proxy_protocol/v3"
	limitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/connection_limit/v3"
	dubbov3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/dubbo_proxy/v3"
	extprocv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/ext_proc/v3"
	redisv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/redis_proxy/v3"
	tcpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/tcp_proxy/v3"
	headerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/thrift_proxy/filters/header_to_metadata/v3"
	payloadv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/thrift_proxy/filters/payload_to_metadata/v3"
	thriftv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/thrift_proxy/v3"
	udpproxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/udp/udp_proxy/v3"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/xdslint/xdslint/internal/ascii"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/read"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "network-filter-value",
	Severity: lint.Error,
	Summary:  "a network, listener or UDP filter has a value that its code rejects, or lacks one that it needs",
	Links: []string{
		"TunnelingConfigHelperImpl::TunnelingConfigHelperImpl (source/common/tcp_proxy/tcp_proxy.cc)",
		"TunnelingConfigImpl::TunnelingConfigImpl (source/extensions/filters/udp/udp_proxy/config.cc)",
		"RedisProxyFilterConfigFactory::createFilterFactoryFromProtoTyped (source/extensions/filters/network/redis_proxy/config.cc)",
		"RateLimitPolicyEntryImpl::RateLimitPolicyEntryImpl (source/extensions/filters/network/thrift_proxy/router/router_ratelimit_impl.cc)",
	},
	Run: read.Each(read.Of(tcpSettings), read.Of(udpProxy), read.Of(redisProxy), read.Of(thriftRoute), read.Of(payloadRule), read.Of(processedWays),
		read.Of(connectionLimit), read.Of(proxyProtocol), read.Of(thriftHeader), read.Of(dubboClusters), read.Of(dnsAddresses)),
})

func tcpSettings(p *lint.Pass, at lint.At, m *tcpproxyv3.TcpProxy) {
	checkBackOff(p, at.Field("backoff_options"), m.GetBackoffOptions())
	if m.GetUpstreamConnectMode() != tcpproxyv3.UpstreamConnectMode_IMMEDIATE && m.GetMaxEarlyDataBytes() == nil {
		p.Reject(at.Field("upstream_connect_mode"), lint.Rejection{
			Message:  "the connection to the upstream waits for data, but max_early_data_bytes does not say how much is kept until then",
			Help:     "add max_early_data_bytes",
			Upstream: "max_early_data_bytes must be set when upstream_connect_mode is not IMMEDIATE",
		})
	}
	if t := m.GetTunnelingConfig(); t.GetPostPath() != "" && !t.GetUsePost() {
		rejectPostPath(p, at.Field("tunneling_config"))
	}
}

func rejectPostPath(p *lint.Pass, tunnel lint.At) {
	p.Reject(tunnel.Field("post_path").Key(), lint.Rejection{
		Message:  "post_path is only for tunnels with use_post: true",
		Help:     "add use_post: true, or remove post_path",
		Upstream: "Can't set a post path when POST method isn't used",
	})
}

// checkBackOff compares as Envoy does, in milliseconds.
func checkBackOff(p *lint.Pass, at lint.At, b *corev3.BackoffStrategy) {
	base, longest := b.GetBaseInterval().AsDuration(), b.GetMaxInterval().AsDuration()
	if b.GetMaxInterval() != nil && longest.Milliseconds() < base.Milliseconds() {
		p.Reject(at.Field("max_interval"), lint.Rejection{
			Message:  fmt.Sprintf("max_interval %s is shorter than base_interval %s", longest, base),
			Help:     fmt.Sprintf("write a max_interval of at least %s, or remove it to use ten times the base_interval", base),
			Upstream: "max_backoff_interval must be greater or equal to base_backoff_interval",
		})
	}
}

func udpProxy(p *lint.Pass, at lint.At, m *udpproxyv3.UdpProxyConfig) {
	if m.GetUsePerPacketLoadBalancing() {
		const help, says = "remove one of them", "Only one of use_per_packet_load_balancing or %s can be used."
		if m.GetTunnelingConfig() != nil {
			exclude(p, at, "tunneling_config", "use_per_packet_load_balancing", help, fmt.Sprintf(says, "tunneling_config"))
		} else if len(m.GetSessionFilters()) > 0 {
			exclude(p, at, "session_filters", "use_per_packet_load_balancing", help, fmt.Sprintf(says, "session_filters"))
		}
	}
	t, tunnel := m.GetTunnelingConfig(), at.Field("tunneling_config")
	switch path := t.GetPostPath(); {
	case path != "" && !t.GetUsePost():
		rejectPostPath(p, tunnel)
	case path != "" && !strings.HasPrefix(path, "/"):
		p.Reject(tunnel.Field("post_path"), lint.Rejection{
			Message:  fmt.Sprintf("%q is not a path", path),
			Help:     "begin it with a slash",
			Upstream: "Path must start with '/'",
		})
	}
	if port := t.GetProxyPort(); port != nil && (port.GetValue() == 0 || port.GetValue() > 65535) {
		p.Reject(tunnel.Field("proxy_port"), lint.Rejection{
			Message:  fmt.Sprintf("%d is not a port", port.GetValue()),
			Help:     "write a port from 1 to 65535",
			Upstream: "Port value not in range",
		})
	}
	checkBackOff(p, tunnel.Field("retry_options", "backoff_options"), t.GetRetryOptions().GetBackoffOptions())
}

func redisProxy(p *lint.Pass, at lint.At, m *redisv3.RedisProxy) {
	routes, seen := m.GetPrefixRoutes(), map[string]int{}
	for i, route := range routes.GetRoutes() {
		prefix := route.GetPrefix()
		if routes.GetCaseInsensitive() {
			prefix = ascii.Lower(prefix)
		}
		before, twice := seen[prefix]
		if !twice {
			seen[prefix] = i
			continue
		}
		list := at.Field("prefix_routes")
		p.Reject(list.Item("routes", i).Field("prefix"), lint.Rejection{
			Message:  fmt.Sprintf("two routes have the prefix %q", route.GetPrefix()),
			Help:     "keep one of them",
			Upstream: fmt.Sprintf("prefix `%s` already exists.", route.GetPrefix()),
			Related:  []lint.Related{lint.RelatedTo(list.Item("routes", before).Field("prefix"), "the first one")},
		})
	}
	if len(routes.GetRoutes()) == 0 && routes.GetCatchAllRoute() == nil {
		p.Reject(at, lint.Rejection{
			Message:  "the Redis proxy does not have a route",
			Help:     "add prefix_routes: {catch_all_route: {cluster: …}}",
			Upstream: "cannot configure a redis-proxy without any upstream",
		})
	}
}

func thriftRoute(p *lint.Pass, at lint.At, m *thriftv3.RouteAction) {
	checkWeights(p, at, m.GetWeightedClusters().GetClusters())
	thriftLimits(p, at, m)
}

// thriftLimits checks the actions of a Thrift route's rate limits, which are fewer than those of HTTP.
func thriftLimits(p *lint.Pass, at lint.At, m *thriftv3.RouteAction) {
	for i, limit := range m.GetRateLimits() {
		for k, action := range limit.GetActions() {
			switch action.GetActionSpecifier().(type) {
			case nil, *routev3.RateLimit_Action_SourceCluster_, *routev3.RateLimit_Action_DestinationCluster_, *routev3.RateLimit_Action_RequestHeaders_,
				*routev3.RateLimit_Action_RemoteAddress_, *routev3.RateLimit_Action_GenericKey_, *routev3.RateLimit_Action_HeaderValueMatch_:
			default:
				p.Reject(at.Item("rate_limits", i).Item("actions", k), lint.Rejection{
					Message:  "the routes of Thrift do not have this action",
					Help:     "use source_cluster, destination_cluster, request_headers, remote_address, generic_key or header_value_match",
					Upstream: "unsupported RateLimit Action",
				})
			}
		}
	}
}

func payloadRule(p *lint.Pass, at lint.At, m *payloadv3.PayloadToMetadata_Rule) {
	metadataRule(p, at, m.GetOnPresent() == nil && m.GetOnMissing() == nil, m.GetOnMissing() != nil && m.GetOnMissing().GetValue() == "",
		"payload to metadata filter: neither `on_present` nor `on_missing` set", "payload to metadata filter: cannot specify on_missing rule without non-empty value")
}

func thriftHeader(p *lint.Pass, at lint.At, m *headerv3.HeaderToMetadata_Rule) {
	metadataRule(p, at, m.GetOnPresent() == nil && m.GetOnMissing() == nil, m.GetOnMissing() != nil && m.GetOnMissing().GetValue() == "",
		"has neither `on_present` nor `on_missing` set", "Cannot specify on_missing rule with empty value")
}

// metadataRule checks a rule that writes metadata, if something is there or if it is missing.
func metadataRule(p *lint.Pass, at lint.At, idle, valueless bool, saysIdle, saysValueless string) {
	switch {
	case idle:
		p.Reject(at, lint.Rejection{Message: "the rule does nothing", Help: "add on_present or on_missing", Upstream: saysIdle})
	case valueless:
		p.Reject(at.Field("on_missing"), lint.Rejection{Message: "on_missing does not have a value", Help: "add value", Upstream: saysValueless})
	}
}

func dnsAddresses(p *lint.Pass, at lint.At, m *dnsv3.DnsTable_AddressList) {
	for i, address := range m.GetAddress() {
		checkIP(p, at.Item("address", i), address)
	}
}

func dubboClusters(p *lint.Pass, at lint.At, m *dubbov3.RouteAction) {
	checkWeights(p, at, m.GetWeightedClusters().GetClusters())
}

// checkWeights is for protocols whose code requires a weight, and not a constraint.
func checkWeights[C interface {
	GetWeight() *wrapperspb.UInt32Value
}](p *lint.Pass, at lint.At, clusters []C) {
	for i, c := range clusters {
		if c.GetWeight() == nil {
			p.Reject(at.Field("weighted_clusters").Item("clusters", i), lint.Rejection{
				Message:  "the weighted cluster does not have a weight",
				Help:     "add weight",
				Upstream: "Field 'weight' is missing in",
			})
		}
	}
}

func processedWays(p *lint.Pass, at lint.At, m *extprocv3.NetworkExternalProcessor) {
	mode := m.GetProcessingMode()
	if m.GetGrpcService() != nil && mode.GetProcessRead() == extprocv3.ProcessingMode_SKIP && mode.GetProcessWrite() == extprocv3.ProcessingMode_SKIP {
		p.Reject(at.Field("processing_mode"), lint.Rejection{
			Message:  "ext_proc skips what is read and what is written, so it does nothing",
			Help:     "write STREAMED for one of them, or remove the filter",
			Upstream: "both read and write paths are skipped, at least one must be enabled.",
		})
	}
}

func connectionLimit(p *lint.Pass, at lint.At, m *limitv3.ConnectionLimit) {
	if m.GetMaxConnections() == nil {
		p.Reject(at, lint.Rejection{
			Message:  "the filter does not have a limit",
			Help:     "add max_connections",
			Upstream: "Field 'max_connections' is missing",
		})
	}
}

func proxyProtocol(p *lint.Pass, at lint.At, m *proxyprotocolv3.ProxyProtocol) {
	banned := m.GetDisallowedVersions()
	if slices.Contains(banned, corev3.ProxyProtocolConfig_V1) && slices.Contains(banned, corev3.ProxyProtocolConfig_V2) {
		p.Reject(at.Field("disallowed_versions").Key(), lint.Rejection{
			Message:  "all versions of the PROXY protocol are disallowed",
			Help:     "remove the version that clients use, or the filter",
			Upstream: "Proxy Protocol filter is misconfigured: all proxy protocol versions are disallowed.",
		})
	}
}
