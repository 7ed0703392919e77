package walk

import (
	"slices"

	matchingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/common/matching/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/ascii"
)

// filter lets the HTTP filters see the request, in their order.
func (j *journey) filter() bool {
	filters, ok := j.filterChain()
	if !ok {
		return false
	}
	j.filters = slices.Clone(filters)
	for _, f := range filters {
		if !j.see(f) {
			return false
		}
	}
	return true
}

// filterChain returns the filters for the request: those of an upgrade, or those of all others (FilterManager::createFilterChain).
func (j *journey) filterChain() ([]envoy.HTTPFilter, bool) {
	kind := ""
	switch {
	case j.headers.has("upgrade"):
		kind = j.headers.value("upgrade")
	case j.headers.value(method) == "CONNECT":
		kind = "CONNECT"
	}
	if kind == "" {
		return j.manager.filters, true
	}
	at, own := j.upgrade(kind)
	allowed, stated := j.routeUpgrade(kind)
	if !stated {
		allowed = own != nil && (own.GetEnabled() == nil || own.GetEnabled().GetValue())
	}
	switch {
	case !allowed && (j.level != nil || j.redirect):
		j.answer.local(403, "upgrade_failed", "-")
		return nil, false
	case allowed && len(own.GetFilters()) > 0:
		return envoy.HTTPFiltersOf(j.manager.at.Item("upgrade_configs", at), "filters", own.GetFilters()), true
	}
	return j.manager.filters, true
}

// upgrade returns what the connection manager says about an upgrade.
func (j *journey) upgrade(kind string) (int, *hcmv3.HttpConnectionManager_UpgradeConfig) {
	for i, c := range j.manager.message.GetUpgradeConfigs() {
		if ascii.Lower(c.GetUpgradeType()) == ascii.Lower(kind) {
			return i, c
		}
	}
	return -1, nil
}

// routeUpgrade reports whether the route says that an upgrade is allowed, or that it is not.
func (j *journey) routeUpgrade(kind string) (allowed, stated bool) {
	if j.level == nil {
		return false, false
	}
	for _, c := range j.level.Route.GetRoute().GetUpgradeConfigs() {
		if ascii.Lower(c.GetUpgradeType()) == ascii.Lower(kind) {
			return c.GetEnabled() == nil || c.GetEnabled().GetValue(), true
		}
	}
	return false, false
}

// visit is a filter that sees a request.
type visit struct {
	envoy.HTTPFilter
	own   proto.Message // of the most specific level, or nil
	ownAt graph.At
}

// settings returns the configuration of the most specific level if it has the type, or else that of the chain.
func settings[M proto.Message](v visit) M {
	if own, ok := v.own.(M); ok {
		return own
	}
	chain, _ := v.Config.(M)
	return chain
}

// act is what a filter does with a request: it reports whether the request goes on.
type act func(j *journey, v visit) bool

// acts are the filters that are modelled.
var acts = map[string]act{
	"api_key_auth": apiKeyAuth, "basic_auth": basicAuth, "buffer": buffer, "cdn_loop": cdnLoop, "compressor": compressor, "cors": cors, "csrf": csrf,
	"decompressor": decompressor, "fault": fault, "grpc_web": grpcWeb, "header_mutation": mutateHeaders, "header_to_metadata": headerToMetadata,
	"health_check": healthCheck, "local_ratelimit": localRateLimit, "rbac": rbac,
}

func init() { // they look for the route again, and with it at the filters
	acts["ip_tagging"], acts["jwt_authn"], acts["set_filter_state"] = ipTagging, jwtAuthn, setFilterState
}

// harmless are filters that leave status, route, path and host of a request as they are.
var harmless = map[string]bool{
	"bandwidth_limit": true, "grpc_stats": true, "on_demand": true, "original_src": true, "tap": true, "router": true, "json_to_metadata": true, "geoip": true,
	"set_metadata": true, "stateful_session": true, "alternate_protocols_cache": true, "upstream_codec": true,
}

// Models reports whether a walk knows what a filter does with a request, except for what chance and credentials decide.
func (w *Walker) Models(f envoy.HTTPFilter) bool {
	_, acting := acts[f.Kind]
	return acting || harmless[f.Kind]
}

// see lets one filter see the request.
func (j *journey) see(f envoy.HTTPFilter) bool {
	state := j.level.Filter(f.Message.GetName(), f.Message.GetDisabled())
	step := FilterStep{Name: f.Message.GetName(), Kind: f.Kind, Does: "passes", Config: levelName(state.Level), Filter: f, State: state}
	own := len(j.answer.Filters)
	j.answer.Filters = append(j.answer.Filters, step)
	if state.Level != nil {
		j.reach(messageOf(state.Level), f.Message.GetName())
	}
	isGuard := j.guarded != nil && j.guard(f, state)
	if state.Off {
		j.answer.Filters[own].Does = "disabled"
		return true
	}
	if isGuard || slices.Contains(j.request.Passing, f.Message.GetName()) {
		j.forget(f)
		return true
	}
	v := visit{f, state.Config, state.At}
	if _, delegates := f.Config.(*matchingv3.ExtensionWithMatcher); delegates {
		var runs match.Overlap
		if v, runs = j.delegated(v); runs != match.Yes {
			if runs == match.Perhaps {
				j.answer.Filters[own].Does = "unknown"
				j.perhaps(v, "a matcher by what is not known")
			}
			return true
		}
		j.filters[slices.IndexFunc(j.filters, func(o envoy.HTTPFilter) bool { return o.Message == f.Message })] = v.HTTPFilter
	}
	doubts := len(j.answer.Unknown)
	if !j.act(v) {
		j.answer.Filters[own].Does = "answers"
		return false
	}
	if len(j.answer.Unknown) > doubts || j.answer.Filters[own].Why != "" {
		j.answer.Filters[own].Does = "unknown"
	}
	return true
}

// act lets one filter do what it does.
func (j *journey) act(v visit) bool {
	action := acts[v.Kind]
	if action == nil {
		action = services[v.Kind]
	}
	if v.Kind != "jwt_authn" {
		defer j.forget(v.HTTPFilter)
	}
	switch {
	case action != nil && v.Config != nil:
		return action(j, v)
	case !harmless[v.Kind]:
		return j.asks(v, "can answer or change the request")
	}
	return true
}

// levelName names the part of a route table that configures a filter.
func levelName(l *envoy.RouteLevel) string {
	switch {
	case l == nil:
		return ""
	case l.Cluster != nil:
		return "weighted cluster " + l.Cluster.GetName()
	case l.Route != nil:
		return "route " + RouteName(l)
	case l.Host != nil:
		return "virtual host " + l.Host.GetName()
	}
	return "route configuration " + l.Table.GetName()
}

// answers notes that a filter answers.
func (j *journey) answers(status int, details, flags string) bool {
	j.answer.local(status, details, flags)
	return false
}

// perhaps notes that a filter may answer, for a reason.
func (j *journey) perhaps(v visit, why string) bool {
	return j.asks(v, "depends on "+why)
}

// all returns the configurations of a filter at all levels, the most specific one first.
func (j *journey) all(name string) (all []proto.Message) {
	for l := j.level; l != nil; l = l.Around {
		own := envoy.RouteLevel{At: l.At, Configs: l.Configs}
		if state := own.Filter(name, false); state.Config != nil {
			all = append(all, state.Config)
		}
	}
	return all
}
