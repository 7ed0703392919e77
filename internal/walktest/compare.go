package walktest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// unusual are details that come from the clients and upstreams of the bench: they end tunnels, and do not speak WebSocket.
var unusual = map[string]bool{"websocket_handshake_unsuccessful": true, "downstream_remote_disconnect": true, "http2.unexpected_underscore": true}

// compare returns the fields in which Envoy and the walk disagree. Fields that the walk does not know are left out.
func compare(r *walk.Request, a *walk.Answer, s seen) (all []string) {
	differ := func(field string, want, got any) {
		if _, unknown := a.Unknown[field]; !unknown && want != got {
			all = append(all, fmt.Sprintf("%s: Envoy %q, the walk %q", field, fmt.Sprint(want), fmt.Sprint(got)))
		}
	}
	differ("status", statusOf(s), deref(a.Status))
	if a.Unknown["status"] != "" || s.closed {
		return all
	}
	differ("location", s.location, text(a.Location))
	if s.log != nil {
		if !unusual[s.log.details] {
			differ("details", s.log.details, a.Details)
			differ("flags", s.log.flags, a.Flags)
		}
		if s.log.route != "" || !strings.HasPrefix(a.Route, "routes[") {
			differ("route", s.log.route, a.Route)
		}
		differ("chain", s.log.chain, strings.TrimPrefix(a.Chain, "filter_chains[0]"))
	}
	if a.Body != nil {
		differ("body", s.body, *a.Body)
	}
	all = append(all, compareResponse(a, s)...)
	if len(s.upstream) == 0 {
		differ("cluster", "", text(a.Cluster))
		return all
	}
	switch {
	case s.log == nil:
	case len(a.Weighted) == 0:
		differ("cluster", s.log.cluster, text(a.Cluster))
	case a.Weighted[s.log.cluster] == nil:
		all = append(all, "cluster: Envoy "+s.log.cluster+" is not among the weighted clusters")
	}
	method, rest, _ := strings.Cut(s.upstream[0], " ")
	path := strings.TrimSuffix(rest, " HTTP/1.1")
	differ("method", method, a.Method)
	if method != "CONNECT" {
		differ("path", path, a.Path)
	}
	got := headersOf(s.upstream)
	differ("host", strings.Join(got["host"], ","), a.Host)
	for _, name := range slices.Sorted(maps.Keys(a.Added)) {
		if name != ":authority" {
			differ("added."+name, strings.Join(got[name], ","), strings.Join(a.Added[name], ","))
		}
	}
	for _, name := range unexpected(r, a, got) {
		differ("added."+name, strings.Join(got[name], ","), "")
	}
	for _, name := range a.Removed {
		differ("removed."+name, "", strings.Join(got[name], ","))
	}
	return all
}

// usual are the headers of responses that do not come from the configuration.
var usual = []string{
	":status", "connection", "content-encoding", "content-length", "content-type", "date", "location", "server", "transfer-encoding", "vary", "x-echo", "x-echo-at", "x-envoy-overloaded",
	"x-envoy-ratelimited", "x-envoy-upstream-healthchecked-cluster", "x-envoy-upstream-service-time", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id", "grpc-status", "grpc-message",
}

// compareResponse compares the headers that the configuration adds to the response.
func compareResponse(a *walk.Answer, s seen) (all []string) {
	if a.Unknown["response_added"] != "" || s.log != nil && unusual[s.log.details] {
		return nil
	}
	names := map[string]bool{}
	for name := range s.headers {
		if name = strings.ToLower(name); !slices.Contains(usual, name) {
			names[name] = true
		}
	}
	for name := range a.ResponseAdded {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		want, got := strings.Join(s.headers.Values(name), ","), strings.Join(a.ResponseAdded[name], ",")
		if _, unknown := a.Unknown["response_added."+name]; !unknown && want != got {
			all = append(all, fmt.Sprintf("response_added.%s: Envoy %q, the walk %q", name, want, got))
		}
	}
	return all
}

// routine are the headers that Envoy gives every request.
var routine = []string{"host", "x-forwarded-proto", "x-request-id", "x-envoy-expected-rq-timeout-ms", "x-forwarded-for", "x-envoy-external-address", "x-envoy-internal", "content-length", "transfer-encoding", "connection"}

// unexpected returns the headers that the upstream got, and that neither the client sent nor the walk knows of.
func unexpected(r *walk.Request, a *walk.Answer, got map[string][]string) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(got)) {
		sent := slices.ContainsFunc(r.Headers, func(h walk.Header) bool {
			return strings.EqualFold(h[0], name) || h[0] == ":protocol" && name == "upgrade"
		})
		if !sent && a.Added[name] == nil && len(a.Weighted) == 0 && !slices.Contains(routine, name) {
			all = append(all, name)
		}
	}
	return all
}

func headersOf(head []string) map[string][]string {
	all := map[string][]string{}
	for _, line := range head[1:] {
		name, value, _ := strings.Cut(line, ":")
		name = strings.ToLower(name)
		all[name] = append(all[name], strings.TrimSpace(value))
	}
	return all
}

func statusOf(s seen) string {
	if s.closed {
		return "closed"
	}
	return fmt.Sprint(s.status)
}

func deref(n *int) string {
	if n == nil {
		return "closed"
	}
	return fmt.Sprint(*n)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
