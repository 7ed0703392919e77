package transition

import (
	"fmt"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

const hcm = "envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"

// drained describes what happens to draining connections: nothing fails, unless some of them do not end by themselves.
func drained(p *lint.Pass, d envoy.Drain) (lint.Severity, string) {
	if what := lasting(p.Old, d); what != "" {
		return lint.Warning, what + " do not end by themselves: Envoy closes them at the end of the drain time (--drain-time-s, 600 s by default)"
	}
	return lint.Info, "over the drain time, Envoy sends HTTP/1.1 clients `connection: close` with a response and HTTP/2 clients GOAWAY, one after the other " +
		"(--drain-time-s, 600 s by default); they reconnect, and no request fails"
}

// lasting describes the draining connections that only client or server end; empty if there are none.
func lasting(old graph.View, d envoy.Drain) (what string) {
	d.Listener.Walk(func(at *graph.Place) {
		if what == "" && d.Covers(at.Path) {
			what = lastingAt(at)
		}
	})
	for _, e := range old.From(d.Listener) {
		if what == "" && e.To != nil && d.Covers(e.Path) {
			what = lastingIn(old, e.To)
		}
	}
	return what
}

// lastingIn searches a resource that a connection manager gets over xDS, and the resources that it refers to.
func lastingIn(old graph.View, r *graph.Resource) (what string) {
	switch r.Kind {
	case graph.RouteConfiguration, graph.ScopedRouteConfiguration, graph.VirtualHost:
	default:
		return ""
	}
	r.Walk(func(at *graph.Place) {
		if what == "" {
			what = lastingAt(at)
		}
	})
	for _, e := range old.From(r) {
		if what == "" && e.To != nil && e.To != r {
			what = lastingIn(old, e.To)
		}
	}
	return what
}

func lastingAt(at *graph.Place) string {
	switch m := at.Message.Interface().(type) {
	case *listenerv3.FilterChain:
		filters := m.GetFilters()
		if len(filters) == 0 {
			return ""
		}
		last := filters[len(filters)-1]
		if url := last.GetTypedConfig().GetTypeUrl(); url != "" && decode.TypeName(url) != hcm {
			return fmt.Sprintf("connections of the filter %q", last.GetName())
		}
	case *hcmv3.HttpConnectionManager:
		for _, u := range m.GetUpgradeConfigs() {
			if u.GetEnabled() == nil || u.GetEnabled().GetValue() {
				return upgraded(u.GetUpgradeType())
			}
		}
	case *routev3.RouteAction:
		for _, u := range m.GetUpgradeConfigs() {
			if u.GetEnabled() == nil || u.GetEnabled().GetValue() {
				return upgraded(u.GetUpgradeType())
			}
		}
	}
	return ""
}

func upgraded(to string) string {
	switch strings.ToLower(to) {
	case "websocket":
		return "WebSockets"
	case "connect":
		return "CONNECT tunnels"
	}
	return fmt.Sprintf("connections upgraded to %s", to)
}
