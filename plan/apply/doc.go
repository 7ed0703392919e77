// Package apply carries out plans over a go-control-plane snapshot cache. It pushes one phase after another, each when
// Envoy is ready for it.
//
// Give the server a [Tracker] as its callbacks: it sees what Envoy requests and ACKs. Then call [Run] instead of
// SetSnapshot.
//
// Run ends an earlier run for the node (Tracker.begin), and makes a plan from what the cache holds (prepare). The steps
// of a run:
//
//  1. settle waits for the ACK of what an unfinished run has sent, since the plan takes that as ACKed.
//  2. step carries out a phase: send puts its types into the cache one after another, and wait waits for each
//     [plan.Wait].
//  3. warmed waits for first health checks where no ACK shows their end: on separate streams, Envoy ACKs a cluster that
//     is not warm.
//  4. undo restores the state before the phase if Envoy rejects it or an ACK does not come in time. It never returns to
//     an earlier phase: the way back would need phases too.
//  5. finish puts into the cache what plans do not cover, such as TTLs.
//
// The tracker notes for each stream and type what was requested, sent and ACKed (stream, subscription). A wait is a
// question to these notes, which await asks again after each event. A stream that closes still counts for a second,
// since an Envoy that lost its connection reconnects. What an unfinished run leaves behind is kept in the node, and the
// next run continues from there: drains that have not ended (inherited), sends without an ACK, health checks.
//
// Three properties of SnapshotCache shape the rest:
//
//   - Over ADS, it answers a SotW request for names only if the request covers all resources of the type, and otherwise
//     drops the request. So push gives Envoy a few seconds to request all of them (allAsked), and a name that nothing
//     requests stays out of the cache while it would block others (offer).
//   - It sends a type if its version differs from that in Envoy's last request. So no version is used twice while an
//     Envoy knows it (version, fresh).
//   - It answers a NACK by sending the same again. So a NACK counts only if this run pushed the version that it rejects
//     (nacked): a late NACK of what an earlier run has withdrawn does not.
//
// Run waits for an order in two ways. A plan's waits are needed, and end in an error. Other waits are only useful
// (patiently): after five seconds, Run continues.
package apply
