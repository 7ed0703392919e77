package calls

import "github.com/xdslint/xdslint/graph"

const restPrefix = "/v3/discovery:"

// names are google.api.http of the Fetch… methods in envoy/service/*/v3. There is no aggregated form.
var names = map[graph.Kind]string{
	graph.Listener:                 "listeners",
	graph.Cluster:                  "clusters",
	graph.RouteConfiguration:       "routes",
	graph.ScopedRouteConfiguration: "scoped-routes",
	graph.ClusterLoadAssignment:    "endpoints",
	graph.Secret:                   "secrets",
	graph.Runtime:                  "runtime",
	graph.ExtensionConfig:          "extension_configs",
}

// Path returns the path for requests of a kind.
func Path(kind graph.Kind) string { return restPrefix + names[kind] }

// Polled returns the kind that is requested at a path.
func Polled(path string) (graph.Kind, bool) {
	for kind := range names {
		if Path(kind) == path {
			return kind, true
		}
	}
	return "", false
}
