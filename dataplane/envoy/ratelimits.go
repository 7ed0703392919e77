package envoy

import (
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	commonv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/ratelimit/v3"
	localv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/local_ratelimit/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"

	"github.com/xdslint/xdslint/graph"
)

// RateLimit is one of the rate_limits of a route, a virtual host or a filter.
type RateLimit struct {
	Message *routev3.RateLimit
	At      graph.At
}

// OwnRateLimits returns the rate limits of a level itself, of a virtual host or a route.
func (l *RouteLevel) OwnRateLimits() []RateLimit {
	switch {
	case l.Cluster != nil || l.Host == nil:
		return nil
	case l.Route == nil:
		return rateLimits(l.At, l.Host.GetRateLimits())
	}
	return rateLimits(l.At.Field("route"), l.Route.GetRoute().GetRateLimits())
}

func rateLimits(at graph.At, messages []*routev3.RateLimit) (all []RateLimit) {
	for i, m := range messages {
		all = append(all, RateLimit{m, at.Item("rate_limits", i)})
	}
	return all
}

// ReplacesHost reports whether the rate limits of a route make a filter ignore those of the virtual host, without that being said
// explicitly (Filter::populateRateLimitDescriptors in source/extensions/filters/http/ratelimit/ratelimit.cc, and Filter::populateDescriptors
// in local_ratelimit/local_ratelimit.cc).
func (f HTTPFilter) ReplacesHost(route *RouteLevel) bool {
	own, of := f.RateLimits(route)
	return of == route && len(own) > 0 && len(route.Around.OwnRateLimits()) > 0 && f.hostLimits(route) == hostOverridden
}

// What a filter does with the rate limits of the virtual host if the route has some.
const (
	hostOverridden = iota
	hostIncluded
	hostIgnored
)

func (f HTTPFilter) hostLimits(route *RouteLevel) int {
	if route.Route.GetRoute().GetIncludeVhRateLimits().GetValue() {
		return hostIncluded
	}
	switch m := f.configFor(route).(type) {
	case *ratelimitv3.RateLimitPerRoute:
		return map[ratelimitv3.RateLimitPerRoute_VhRateLimitsOptions]int{
			ratelimitv3.RateLimitPerRoute_INCLUDE: hostIncluded, ratelimitv3.RateLimitPerRoute_IGNORE: hostIgnored,
		}[m.GetVhRateLimits()]
	case *localv3.LocalRateLimit:
		return map[commonv3.VhRateLimitsOptions]int{
			commonv3.VhRateLimitsOptions_INCLUDE: hostIncluded, commonv3.VhRateLimitsOptions_IGNORE: hostIgnored,
		}[m.GetVhRateLimits()]
	}
	return hostOverridden
}

// configFor returns the configuration of a filter for a route: of its own, or that of the chain.
func (f HTTPFilter) configFor(route *RouteLevel) any {
	if s := route.Filter(f.Message.GetName(), f.Message.GetDisabled()); s.Config != nil {
		return s.Config
	}
	return f.Config
}

// Stage returns the stage of the rate limits that a filter applies to a route. ok is false if it is not a rate limit filter.
func (f HTTPFilter) Stage(route *RouteLevel) (stage uint32, ok bool) {
	switch m := f.Config.(type) {
	case *ratelimitv3.RateLimit:
		return m.GetStage(), true
	case *localv3.LocalRateLimit:
		if own, is := f.configFor(route).(*localv3.LocalRateLimit); is {
			m = own
		}
		return m.GetStage(), true
	}
	return 0, false
}

// RateLimits returns the rate limits that a filter applies to a route. A filter's own rate_limits, of the route before those of the chain, are
// instead of those of route and virtual host. of is the level that has them, or nil if they are the filter's own.
func (f HTTPFilter) RateLimits(route *RouteLevel) (all []RateLimit, of *RouteLevel) {
	state := route.Filter(f.Message.GetName(), f.Message.GetDisabled())
	stage, ok := f.Stage(route)
	if !ok || state.Off {
		return nil, nil
	}
	for _, own := range []struct {
		at     graph.At
		config any
	}{{state.At, state.Config}, {f.Own, f.Config}} {
		if m, has := own.config.(interface{ GetRateLimits() []*routev3.RateLimit }); has && len(m.GetRateLimits()) > 0 {
			return rateLimits(own.at, m.GetRateLimits()), nil
		}
		if _, local := own.config.(*localv3.LocalRateLimit); local {
			break // that of the route is instead of that of the chain
		}
	}
	if route.Cluster != nil {
		route = route.Around
	}
	of = route
	all = atStage(route.OwnRateLimits(), stage)
	switch included := f.hostLimits(route); {
	case len(route.OwnRateLimits()) == 0 && included != hostIgnored:
		all, of = atStage(route.Around.OwnRateLimits(), stage), route.Around
	case included == hostIncluded:
		all = append(all, atStage(route.Around.OwnRateLimits(), stage)...)
	}
	return all, of
}

func atStage(limits []RateLimit, stage uint32) (all []RateLimit) {
	for _, l := range limits {
		if l.Message.GetStage().GetValue() == stage {
			all = append(all, l)
		}
	}
	return all
}

// DescriptorEntry is an entry of the descriptor that a rate limit builds.
type DescriptorEntry struct {
	Key   string
	Value string // if it is always the same; else empty
}

// Descriptor returns the entries that the actions of a rate limit build (source/common/router/router_ratelimit.cc). It is not known for
// extensions.
func (l RateLimit) Descriptor() (entries []DescriptorEntry, known bool) {
	for _, a := range l.Message.GetActions() {
		e, ok := entryOf(a)
		if !ok {
			return nil, false
		}
		entries = append(entries, e)
	}
	return entries, true
}

func entryOf(a *routev3.RateLimit_Action) (e DescriptorEntry, known bool) {
	or := func(key, otherwise string) string {
		if key == "" {
			return otherwise
		}
		return key
	}
	switch a := a.GetActionSpecifier().(type) {
	case *routev3.RateLimit_Action_SourceCluster_:
		return DescriptorEntry{Key: "source_cluster"}, true
	case *routev3.RateLimit_Action_DestinationCluster_:
		return DescriptorEntry{Key: "destination_cluster"}, true
	case *routev3.RateLimit_Action_RequestHeaders_:
		return DescriptorEntry{Key: a.RequestHeaders.GetDescriptorKey()}, true
	case *routev3.RateLimit_Action_QueryParameters_:
		return DescriptorEntry{Key: a.QueryParameters.GetDescriptorKey()}, true
	case *routev3.RateLimit_Action_RemoteAddress_:
		return DescriptorEntry{Key: "remote_address"}, true
	case *routev3.RateLimit_Action_MaskedRemoteAddress_:
		return DescriptorEntry{Key: "masked_remote_address"}, true
	case *routev3.RateLimit_Action_GenericKey_:
		return DescriptorEntry{or(a.GenericKey.GetDescriptorKey(), "generic_key"), fixed(a.GenericKey.GetDescriptorValue())}, true
	case *routev3.RateLimit_Action_HeaderValueMatch_:
		return DescriptorEntry{or(a.HeaderValueMatch.GetDescriptorKey(), "header_match"), fixed(a.HeaderValueMatch.GetDescriptorValue())}, true
	case *routev3.RateLimit_Action_QueryParameterValueMatch_:
		return DescriptorEntry{or(a.QueryParameterValueMatch.GetDescriptorKey(), "query_match"), fixed(a.QueryParameterValueMatch.GetDescriptorValue())}, true
	case *routev3.RateLimit_Action_Metadata:
		return DescriptorEntry{Key: a.Metadata.GetDescriptorKey()}, true
	}
	return e, false
}

// fixed returns a value that contains no command of a format, or else nothing.
func fixed(value string) string {
	for _, r := range value {
		if r == '%' {
			return ""
		}
	}
	return value
}
