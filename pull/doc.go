// Package pull fetches the resources that a management server sends to an Envoy, and the configuration of a running
// Envoy.
//
// [SotW], [Delta] and [REST] fetch as Envoy does: they ask for all clusters and listeners, and then for what the
// answers refer to. A server without aggregated streams is asked over a stream for each type (streams.go). The
// subscriptions know what was requested and what came (state.go), and decide what to request; a transport only sends and
// receives. accept processes a response, follow asks the table of package graph what its resources refer to, and
// subscribe determines what to request next. A stream ends when everything was answered and the server is silent for a
// moment (settled). If the server is silent for too long, or the deadline passes, the result is what was received.
//
// What is wrong with a server is a fault or a missing name in the [Result], not an error: the rest is used. Faults,
// messages and the total size have limits, which Envoy does not have.
//
// [Result.Files] writes a discovery response for each kind, and [Result.Declare] adds to the snapshot that is loaded
// from them what is known about the world: of what was requested by name, the server has no more. The bootstrap may
// have more clusters and listeners, and other servers what they serve.
//
// [Admin] fetches the config_dump of a running Envoy. Files and Admin redact what they return; the [Result] itself is
// not redacted. Texts of a server are made safe for a terminal, and headers that were sent are taken out of them
// (scrub), since a server can repeat them.
package pull
