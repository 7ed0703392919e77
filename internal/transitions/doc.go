// Package transitions pushes configurations to a real Envoy while requests go through it, and counts what fails: once
// as a control plane does that sends all it has at once (naive), and once as plan and plan/apply do (planned). It is
// the proof of those two packages, and of the gate in package admission. `make transitions` runs all of it and writes
// docs/transitions.md.
//
// A [Case] is two snapshots: a folder of testdata/transitions, or an example of a transition rule. [Run] makes it real:
//
//  1. A place moves both snapshots to this machine: free ports for listeners, an upstream for each endpoint,
//     certificates, and config sources that name this control plane. Equal addresses move to equal places, so what the
//     snapshots have alike stays alike.
//  2. A go-control-plane server serves the old snapshot, behind a proxy that delays (proxy.go), and Envoy starts.
//  3. Clients ask for targets, over connections that stay and over new ones. Targets that do not answer before the push
//     are left out.
//  4. The push happens, and transit watches until connections are drained and nothing is under way.
//  5. A [Result] counts failed requests, NACKs, what is not ACKed, not delivered or still warming, and crashes.
//     Symptoms puts that into words, which a case can allow as unavoidable.
//
// A recorder wraps the server's callbacks and sees what goes over the wire. Each answer that Envoy makes itself begins
// with its response flags, so a failed request has a reason. [Bench] runs many jobs and [Jobs] lists those of a whole
// measurement: each case, over each transport, near the control plane and far from it.
//
// The tests of the gate are here too, since they need the same harness: a folder of testdata/gate is a push that a gate
// has to judge (gate_test.go), and defects_test.go puts random defects into good pushes.
package transitions
