package envoy

import "github.com/xdslint/xdslint/graph"

// Drops reports whether Envoy drops a resource when it is removed, even if connections that drain or other resources still use it. Without
// that, it keeps the last version for as long as something uses it (RdsRouteConfigSubscription, SdsApi, EdsClusterImpl: onConfigUpdate).
func Drops(kind graph.Kind, incremental bool) bool {
	switch kind {
	case graph.Listener, graph.Cluster, graph.ScopedRouteConfiguration:
		return true
	case graph.VirtualHost: // over Delta always
		return true
	case graph.ExtensionConfig: // a response of SotW cannot say that it was removed
		return incremental
	}
	return false
}
