// Package apply carries out plans over a go-control-plane snapshot cache. It pushes one phase after another, each when
// Envoy is ready for it.
//
// Give the server a [Tracker] as its callbacks: it sees what Envoy requests and ACKs. Then call [Begin] instead of
// SetSnapshot, or [Run], which also waits.
//
// Begin ends an earlier push for the node and takes its place at once (take), so that pushes stay in order. The push then
// runs in a goroutine. It finds out what the Envoys have, which after a restart of the control plane is what the caller
// kept (start, resume), and makes a plan (prepare). Its steps:
//
//  1. settle waits for the ACK of what an unfinished push has sent, since the plan takes that as ACKed.
//  2. step carries out a phase: sendAll puts its types into the cache one after another, and attend waits for each
//     [plan.Wait]. A phase that has begun is sent to its end even if the push is superseded or cancelled: traffic only
//     flows in whole phases.
//  3. warmed waits for first health checks where no ACK shows their end: on separate streams, Envoy ACKs a cluster that
//     is not warm.
//  4. undo restores the state before the phase if Envoy rejects it or an ACK does not come in time. It never returns to
//     an earlier phase: the way back would need phases too.
//  5. finish puts into the cache what plans do not cover, such as TTLs.
//
// The tracker notes for each stream and type what was requested, sent and ACKed (stream, subscription). A wait is a
// question to these notes, which await asks again after each event. A stream that closes still counts for a second,
// since an Envoy that lost its connection reconnects. What an unfinished push leaves behind is kept in the node, and the
// next one continues from there: drains that have not ended (inherited), sends without an ACK, health checks. After a
// restart, what no listener leads to was perhaps kept for draining connections (leftovers), and so was per-route
// configuration of a filter that no listener has.
//
// Three properties of SnapshotCache shape the rest:
//
//   - Over ADS, it answers a SotW request for names only if the request covers all resources of the type, and otherwise
//     drops the request. So push gives Envoy a few seconds to request all of them (allAsked), and a name that nothing
//     requests stays out of the cache while it would block others (offer).
//   - It sends a type if its version differs from that in Envoy's last request. So no version is used twice while an
//     Envoy knows it (version, fresh).
//   - It answers a NACK by sending the same again. So a NACK counts only if this push sent the version that it rejects
//     (nacked): a late NACK of what an earlier push has withdrawn does not.
//
// A push waits for an order in two ways. A plan's waits are needed, and end in an error. Other waits are only useful
// (patiently): after five seconds, the push continues.
package apply
