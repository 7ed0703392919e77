// Package envoy models what Envoy does: pure functions over messages and the graph, without findings. Comments name the
// C++ functions that the code follows, and the tests compare it with the real Envoy. Rules and the planner ask it, so
// that each fact about Envoy is in one place.
//
//   - Extensions: which extension an Any configures, and whether Envoy reads it (extension_points.go, reads.go,
//     per_route.go).
//   - Clusters: which factory makes a cluster, which policy balances its load, how it speaks HTTP (cluster.go,
//     balancing.go, transport_socket.go).
//   - Values: IP addresses, headers, regular expressions, the runtime (address.go, header.go, regex.go, runtime.go).
//   - Names: which Envoy looks up while it loads a configuration, and what happens if they do not exist (lookup.go,
//     boot.go, meanwhile.go).
//   - Constraints: which values of a message Envoy rejects, and which of those cost a whole response (constraints.go,
//     durations.go).
//   - Updates: which connections drain, which requests two snapshots both serve, and what a rejection does for each
//     kind of delivery (drain.go, traffic.go, reject.go).
//
// What a build of Envoy has or lacks is not here but in package dataplane, as data. What an Envoy does not read, it
// does not reject: so most questions about an Any begin with [Reads] or [Validated].
//
// Its subpackage match models which requests and connections match what.
package envoy
