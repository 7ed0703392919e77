// Package envoy says what Envoy does: pure functions over messages and the graph, without findings. Each names the C++ function that it
// follows, and the tests ask the real Envoy.
//
//   - Extensions: which extension an Any configures, and whether Envoy reads it (extension_points.go, reads.go, per_route.go).
//   - Clusters: how a cluster is made, which policy balances its load, how it speaks HTTP (cluster.go, balancing.go, transport_socket.go).
//   - Values: IP addresses, headers, regular expressions, the runtime (address.go, header.go, regex.go, runtime.go).
//   - Names: which are looked up while a configuration is loaded, and what happens without them (lookup.go, boot.go, meanwhile.go).
//   - Constraints: which values of a message Envoy rejects, and which of those cost a whole response (constraints.go, durations.go).
//   - Updates: which connections drain, which requests two snapshots both serve, and what a rejection does, by delivery (drain.go, traffic.go,
//     reject.go).
//
// Package match, below it, says what matches what.
package envoy
