package http

import (
	"fmt"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	rbacnetworkv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/rbac/v3"
	upstreamv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/rbac/matchers/upstream_ip_port/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "rbac-value",
	Severity: lint.Error,
	Summary:  "an RBAC policy has a range without ports, or conditions that its filter does not have",
	Links: []string{
		"PortRangeMatcher::PortRangeMatcher (source/extensions/filters/common/rbac/matchers.cc)",
		"UpstreamIpPortMatcher::UpstreamIpPortMatcher (source/extensions/filters/common/rbac/matchers/upstream_ip_port.cc)",
		"validateRbacRules (source/extensions/filters/network/rbac/config.cc)",
	},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		if envoy.RulesIgnored(at.Place) || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		switch m := m.Interface().(type) {
		case *rbacv3.Permission:
			rejectHeader(p, at, m.GetHeader())
			if r := m.GetDestinationPortRange(); r != nil {
				checkPorts(p, at.Field("destination_port_range"), r.GetStart(), r.GetEnd())
			}
		case *rbacv3.Principal:
			rejectHeader(p, at, m.GetHeader())
		case *upstreamv3.UpstreamIpPortMatcher:
			checkUpstream(p, at, m)
		}
	}, nameOf(&rbacv3.Permission{}), nameOf(&rbacv3.Principal{}), nameOf(&upstreamv3.UpstreamIpPortMatcher{})),
})

func checkUpstream(p *lint.Pass, at lint.At, m *upstreamv3.UpstreamIpPortMatcher) {
	if m.GetUpstreamIp() == nil && m.GetUpstreamPortRange() == nil {
		p.Reject(at, lint.Rejection{
			Message:  "the matcher does not say which upstreams it means",
			Help:     "add upstream_ip or upstream_port_range",
			Upstream: "Invalid UpstreamIpPortMatcher configuration - missing `upstream_ip` and/or `upstream_port_range`",
		})
	}
}

// rejectHeader reports a condition on a header in the network filter, which does not see requests.
func rejectHeader(p *lint.Pass, at lint.At, header *routev3.HeaderMatcher) {
	if _, network := graph.Around[*rbacnetworkv3.RBAC](at.Place); header != nil && network != nil {
		p.Reject(at.Field("header").Key(), lint.Rejection{
			Message:  "the network filter for RBAC does not see headers",
			Help:     "use envoy.filters.http.rbac after an HTTP connection manager, or a condition on the connection",
			Upstream: "rule,not supported by RBAC network filter",
		})
	}
}

func checkPorts(p *lint.Pass, at lint.At, start, end int32) {
	r := lint.Rejection{Help: "write a start from 0 and a greater end up to 65536; the end does not belong to the range"}
	switch {
	case start < 0 || start > 65536:
		r.Message, r.Upstream = fmt.Sprintf("%d is not a port", start), fmt.Sprintf("range start %d is out of bounds", start)
		at = at.Field("start")
	case end < 0 || end > 65536:
		r.Message, r.Upstream = fmt.Sprintf("%d is not a port", end), fmt.Sprintf("range end %d is out of bounds", end)
		at = at.Field("end")
	case start >= end:
		r.Message = fmt.Sprintf("no port is from %d to %d (exclusive)", start, end)
		r.Upstream = fmt.Sprintf("range start %d cannot be greater or equal than range end %d", start, end)
	default:
		return
	}
	p.Reject(at, r)
}
