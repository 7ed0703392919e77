package grpc

import (
	"fmt"
	"regexp"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/graph"
)

const rlsType = "grpc.lookup.v1.RouteLookupClusterSpecifier"

// eachRetry calls f for each retry policy that the client reads.
func eachRetry(t Table, f func(at graph.At, p *routev3.RetryPolicy) []Fault) (all []Fault) {
	for i, host := range t.Config.GetVirtualHosts() {
		if host.GetRetryPolicy() != nil {
			all = append(all, f(t.At.Item("virtual_hosts", i).Field("retry_policy"), host.GetRetryPolicy())...)
		}
	}
	return append(all, eachRoute(t, func(r route) []Fault {
		if a := r.route.GetRoute(); a.GetRetryPolicy() != nil && !dropped(t, a) {
			return f(r.at.Field("route", "retry_policy"), a.GetRetryPolicy())
		}
		return nil
	})...)
}

// RetryPolicies checks retry policies, also those that gRPC does not use (generateRetryConfig, gRFC A44).
func (c Client) RetryPolicies(t Table) []Fault {
	return eachRetry(t, func(at graph.At, p *routev3.RetryPolicy) (all []Fault) {
		if n := p.GetNumRetries(); n != nil && n.GetValue() == 0 && c.is(Go, Core) {
			all = append(all, rejected(at.Field("num_retries"), "num_retries is 0", "retry_policy.num_retries = 0; must be >= 1", "to retry nothing, remove the retry policy")...)
		}
		backoff, at := p.GetRetryBackOff(), at.Field("retry_back_off")
		if backoff == nil {
			return all
		}
		base, longest := backoff.GetBaseInterval(), backoff.GetMaxInterval()
		if base.AsDuration() <= 0 && (base == nil || c.is(Go, Java)) {
			all = append(all, rejected(at, "retry_back_off has no base_interval above 0", "retry_policy.base_interval = 0s; must be > 0", "write a base_interval, such as 0.025s")...)
		}
		if longest != nil && longest.AsDuration() <= 0 && c.is(Go, Java) {
			all = append(all, rejected(at.Field("max_interval"), "max_interval is not above 0", "retry_policy.max_interval = 0s; must be > 0", "write a longer max_interval, or remove it")...)
		}
		if longest != nil && longest.AsDuration() < base.AsDuration() && c.is(Java) {
			all = append(all, rejected(at.Field("max_interval"), "max_interval is shorter than base_interval", "", "write a longer max_interval, or remove it")...)
		}
		return all
	})
}

// RetriesNothing reports retry policies without a condition that gRPC knows (generateRetryConfig, gRFC A44).
func (c Client) RetriesNothing(t Table) []Fault {
	return eachRetry(t, func(at graph.At, p *routev3.RetryPolicy) []Fault {
		for on := range strings.SplitSeq(p.GetRetryOn(), ",") {
			switch strings.ToLower(strings.TrimSpace(on)) {
			case "cancelled", "deadline-exceeded", "internal", "resource-exhausted", "unavailable":
				return nil
			}
		}
		return accepted(at.Field("retry_on"), Ignores, "retry_on has no condition that gRPC knows", "retries nothing", "add cancelled, deadline-exceeded, internal, resource-exhausted or unavailable")
	})
}

// HashPolicies checks the hash policies of routes (hashPoliciesProtoToSlice, gRFC A42). They are read before the destination is.
func (c Client) HashPolicies(t Table) []Fault {
	return eachRoute(t, func(r route) (all []Fault) {
		for i, p := range r.route.GetRoute().GetHashPolicy() {
			all = append(all, c.hashPolicy(r.at.Field("route").Item("hash_policy", i), p)...)
		}
		return all
	})
}

func (c Client) hashPolicy(at graph.At, p *routev3.RouteAction_HashPolicy) (all []Fault) {
	if s, ok := p.GetPolicySpecifier().(*routev3.RouteAction_HashPolicy_Header_); ok {
		if s.Header.GetHeaderName() == "" && c.is(Core) {
			all = append(all, rejected(at.Field("header"), "the hash policy names no header", "", "write a header_name")...)
		}
		if rewrite := s.Header.GetRegexRewrite(); rewrite != nil {
			if _, err := regexp.Compile(rewrite.GetPattern().GetRegex()); err != nil {
				all = append(all, rejected(at.Field("header", "regex_rewrite", "pattern", "regex"), fmt.Sprintf("%q is not a regular expression", rewrite.GetPattern().GetRegex()), "contains an invalid regex", "write it in the syntax of RE2")...)
			}
		}
	}
	return all
}

// HashPoliciesIgnored reports hash policies that gRPC does not use (hashPoliciesProtoToSlice, gRFC A42).
func (c Client) HashPoliciesIgnored(t Table) []Fault {
	return eachRoute(t, func(r route) (all []Fault) {
		for i, p := range r.route.GetRoute().GetHashPolicy() {
			at := r.at.Field("route").Item("hash_policy", i)
			const help = "write header, or filter_state with the key io.grpc.channel_id"
			switch s := p.GetPolicySpecifier().(type) {
			case *routev3.RouteAction_HashPolicy_Header_:
				if name := s.Header.GetHeaderName(); strings.HasSuffix(name, "-bin") {
					all = append(all, accepted(at.Field("header", "header_name"), Ignores, fmt.Sprintf("gRPC does not hash the binary header %s", name), "ignores the hash policy", "hash another header")...)
				}
			case *routev3.RouteAction_HashPolicy_FilterState_:
				if key := s.FilterState.GetKey(); key != "io.grpc.channel_id" {
					all = append(all, accepted(at, Ignores, fmt.Sprintf("gRPC has no filter state %q to hash", key), "ignores the hash policy", help)...)
				}
			case nil:
				all = append(all, accepted(at, Ignores, "the hash policy does not say what to hash", "ignores the hash policy", help)...)
			default:
				all = append(all, accepted(at, Ignores, "gRPC does not hash by "+chosen(p, "policy_specifier"), "ignores the hash policy", help)...)
			}
		}
		return all
	})
}

// SpecifierPlugins checks the cluster specifier plugins of a table, and the routes that name one (processClusterSpecifierPlugins,
// routesProtoToSlice).
func (c Client) SpecifierPlugins(t Table) (all []Fault) {
	declared := map[string]bool{}
	for i, plugin := range t.Config.GetClusterSpecifierPlugins() {
		at := t.At.Item("cluster_specifier_plugins", i).Field("extension")
		name, kind := plugin.GetExtension().GetName(), typeName(plugin.GetExtension().GetTypedConfig())
		known := c.has(plugins, kind)
		switch {
		case kind == rlsType && c.is(Go):
			all = append(all, rejected(at, "grpc-go has this plugin only in programs that import google.golang.org/grpc/balancer/rls", "RLS LB policy not registered", "import the package in the program, and judge this table there")...)
		case !known && !plugin.GetIsOptional():
			all = append(all, rejected(at, fmt.Sprintf("gRPC does not support the cluster specifier plugin %q", name), "was not found", "remove it, or set is_optional: true to have the routes that name it dropped")...)
		case declared[name] && (c.is(Core) || known && c.is(Java)):
			all = append(all, rejected(at, fmt.Sprintf("another plugin before this one is named %q", name), "", "give each plugin another name")...)
		}
		declared[name] = true
	}
	return append(all, eachRoute(t, func(r route) []Fault {
		s, ok := r.route.GetRoute().GetClusterSpecifier().(*routev3.RouteAction_ClusterSpecifierPlugin)
		if !ok || declared[s.ClusterSpecifierPlugin] {
			return nil
		}
		return rejected(r.at.Field("route", "cluster_specifier_plugin"), fmt.Sprintf("the route configuration does not declare the plugin %q", s.ClusterSpecifierPlugin), "specifies a cluster specifier plugin that is not in Route Configuration", "declare it in cluster_specifier_plugins")
	})...)
}

// StreamDurations checks the limits of streams, which only core checks (gRFC A31).
func (c Client) StreamDurations(t Table) []Fault {
	return eachRoute(t, func(r route) (all []Fault) {
		limit := r.route.GetRoute().GetMaxStreamDuration()
		negative := func(field string, d *durationpb.Duration) {
			if d.AsDuration() < 0 && c.is(Core) {
				all = append(all, rejected(r.at.Field("route", "max_stream_duration", field), field+" is negative", "", "write a duration of 0 or more")...)
			}
		}
		negative("grpc_timeout_header_max", limit.GetGrpcTimeoutHeaderMax())
		negative("max_stream_duration", limit.GetMaxStreamDuration())
		return all
	})
}
