// Package envoy models what Envoy does: pure functions over messages and the graph, without findings. Comments name the
// C++ functions that the code follows, and the tests compare it with the real Envoy. Rules and the planner ask it, so
// that each fact about Envoy is in one place.
//
//   - Extensions: which extension an Any configures, and whether Envoy reads it (extension_points.go, reads.go,
//     per_route.go).
//   - Filters: which ones a connection manager or a listener has, in which order, and what routes configure of them
//     (http_filters.go, listener_filters.go, filter_config.go, rbac.go, ratelimits.go, metadata.go).
//   - Routes: which route tables a connection manager can get, retries and timeouts, scopes (routes.go, retries.go,
//     scope.go).
//   - Listeners: which sockets they bind, and who can connect (listen_socket.go, public.go).
//   - Clusters: which factory makes a cluster, which policy balances its load, how it speaks HTTP and TLS, which
//     endpoints it has (cluster.go, balancers.go, balancing.go, transport_socket.go, endpoints.go).
//   - Values: addresses, URLs, headers, regular expressions, settings of HTTP/2, the runtime, and texts in a language of
//     their own, such as Lua and JWKS (address.go, url.go, header.go, regex.go, http2.go, runtime.go, datasource.go,
//     lua.go, jwks.go, htpasswd.go, aws.go).
//   - Names: which Envoy looks up while it loads a configuration, and what happens if they do not exist (lookup.go,
//     lookup_secret.go, cluster_reference.go, boot.go, meanwhile.go, meanwhile_notes.go).
//   - Constraints: which values of a message Envoy rejects, and which of those cost a whole response (constraints.go,
//     durations.go).
//   - Updates: which connections drain, which requests two snapshots both serve, who takes over from whom, and what a
//     rejection, a removal and a restart do (drain.go, drain_equal.go, traffic.go and traffic_*.go, takeover.go,
//     subset.go, reroute.go, drop.go, reject.go, restart.go).
//
// What a build of Envoy has or lacks is not here but in package dataplane, as data. What an Envoy does not read, it
// does not reject: so most questions about an Any begin with [Reads] or [Validated].
//
// Its subpackage match models which requests and connections match what.
package envoy
