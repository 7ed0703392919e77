// Package admission keeps a control plane from pushing what would break a data plane. A [Gate] wraps go-control-plane's
// SnapshotCache and judges each snapshot before it is pushed.
//
// A gate that is too strict causes outages itself. So a Gate acts on new errors only: errors that the node's snapshot
// already has never block the next snapshot, and neither do warnings or rules that fail.
//
// The way of a snapshot through Gate.SetSnapshot:
//
//  1. push.admit takes the node's turn: snapshots of one node are judged one after another.
//  2. decide starts a goroutine that judges (judging.run), and waits for it until the deadline.
//  3. read makes resources of the snapshot. If a node is known to have the same, nothing is made (candidates.go). A
//     resource that is equal to the node's is taken from there.
//  4. find lints it in the node's world (Gate.graph): of a type that the node ever had, the cache serves all resources,
//     so a missing name is an error. What did not change is not judged again (lint.RunAfter). Options.Hazards adds the
//     hazards of the push.
//  5. fresh picks the new errors. Only if there are errors at all, what the node has is linted too.
//  6. The strictest policy of the new errors decides: push, push nothing, or withhold a part (quarantine).
//
// An error is known if the node has the same one, counted: two known errors do not hide a third. pickNew compares them
// in the same place first, then without places and numbers, since indices shift when a list changes. In resources that
// did not change, the rule and the field are enough: the message may name a related resource that did.
//
// Quarantine searches for a set of changes to withhold: additions, updates and removals. Each new error blames one
// (blameFor): the removal of what the resource has always referred to, else the resource itself if it changed, else a
// change around it. close adds what depends on the blamed changes, and compose leaves out what nothing refers to any
// more; the rest is linted, and can blame more. The set only grows, so this ends, at the latest with what the node has.
// Then giveBack tries, by halves, to release changes that were only suspected.
//
// If Options.Push returns a Rejection, push.learn notes what the node rejected, and the same snapshot is decided again,
// with that blamed from the start. Each attempt begins with what the node had before the first one: the cache may hold
// what was rejected.
//
// A snapshot that is not judged as a whole in half of the time is late (late.go). What is not judged is treated like a
// new error: with Quarantine, isolate withholds all changes, and gives back those that it can judge, by halves. If even
// the snapshot that the node has cannot be judged in time, Options.FailClosed decides.
//
// Judging writes down what it knows as it works (judging.progress), and the deadline decides by that: nothing that is
// known to be broken then is pushed, and with Options.FailClosed nothing at all, unless the rest was judged. Rules are
// asked before Hazards, whose search may not end. A goroutine that is given up may still hold what it was given, so
// only one judges for a node at a time (node.enter).
//
// Gate.CreateWatch answers SotW requests for names itself (watch.go): a SnapshotCache for ADS can lose them. The cache
// only reports changes, by a watch for all names. Other requests and those of Delta are changed such that the cache
// answers them as the protocol says (again.go).
//
// A property test with random snapshots holds that no new error is pushed, that unrelated changes are pushed as they
// are, and that the same push is decided in the same way again. The gate gets its rules, hazards and pushes as values:
// it imports neither the rules nor package plan.
package admission
