// Package reference is a small management server that keeps every clause of the protocol, for tests. It serves SotW and
// Delta, aggregated and a stream for each type.
//
// A [Session] is the server's side of one stream, without a network: it takes requests and returns responses. [Server]
// puts sessions behind gRPC. A test can put something around a session that breaks a clause (Store.Wrap).
//
// A [Client] is the other side: it keeps the protocol too, unless it has a [Flaw].
package reference
