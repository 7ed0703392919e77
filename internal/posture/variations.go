package posture

import (
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/walk"
)

// variation is a change of a request that a matcher can see.
type variation struct {
	name  string
	apply func(*walk.Request)
}

// variationsOf returns the changes of requests that the matchers and the connection manager tell apart.
func variationsOf(g *walk.Guarded, b walk.Boundaries) (all []variation) {
	seen := map[string]bool{}
	add := func(name string, apply func(*walk.Request)) {
		if !seen[name] {
			seen[name] = true
			all = append(all, variation{name, apply})
		}
	}
	for _, kind := range upgradesOf(g) {
		add("upgrade: "+kind, with(walk.Header{"connection", "upgrade"}, walk.Header{"upgrade", kind}))
	}
	add("CORS preflight", func(q *walk.Request) {
		q.Method = "OPTIONS"
		with(walk.Header{"origin", "https://other.test"}, walk.Header{"access-control-request-method", "GET"})(q)
	})
	for _, name := range slices.Sorted(maps.Keys(b.Headers)) {
		for _, value := range valuesOf(name, b.Headers[name]) {
			if name == ":method" {
				add(value, func(q *walk.Request) { q.Method = value })
			} else {
				add(name+": "+value, with(walk.Header{name, value}))
			}
		}
	}
	for _, query := range b.Queries {
		if query != "" {
			add(query, func(q *walk.Request) { path := *q.Path + query; q.Path = &path })
		}
	}
	return all
}

func with(headers ...walk.Header) func(*walk.Request) {
	return func(q *walk.Request) { q.Headers = slices.Concat(q.Headers, headers) }
}

// upgradesOf returns the upgrades that a connection manager or one of its routes knows, without CONNECT, which does not have a path.
func upgradesOf(g *walk.Guarded) []string {
	set := map[string]bool{}
	for _, u := range g.Manager.GetUpgradeConfigs() {
		set[strings.ToLower(u.GetUpgradeType())] = true
	}
	for level := range g.Routes.Levels {
		for _, u := range level.Route.GetRoute().GetUpgradeConfigs() {
			set[strings.ToLower(u.GetUpgradeType())] = true
		}
	}
	delete(set, "connect")
	return slices.Sorted(maps.Keys(set))
}

// methods are those that clients use.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// valuesOf returns the values of a header that a client can send without knowing a secret.
func valuesOf(name string, values []string) []string {
	switch {
	case name == ":method":
		return slices.DeleteFunc(slices.Clone(values), func(s string) bool { return !slices.Contains(methods, s) })
	case strings.HasPrefix(name, ":"), name == "host", name == "upgrade", name == "connection":
		return nil
	case name == "authorization":
		return []string{"Bearer x", "Basic x"}
	case redact.Credential(name):
		return []string{"x"}
	}
	return slices.DeleteFunc(slices.Clone(values), func(s string) bool { return s == "" || redact.Looks(s) != s })
}
