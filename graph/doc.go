// Package graph models what a control plane sends to a data plane: resources, the snapshots that are judged together,
// and the references between resources.
//
// A [Resource] is one message with its kind, name, server and delivery. It keeps the text that it was decoded from next
// to the message, and its Anys in Contents. Resource.Walk visits every message in it, through each Any and TypedStruct.
// The static resources of a bootstrap are resources of their own, so the walk of a bootstrap leaves them out.
//
// What a resource refers to depends on the resource alone: links.go walks it once, and notes a [Reference] for each
// field in the table of references.go. A new filter that names a cluster needs one line there. What needs more than a
// field with a name is in links.go and filters.go, such as an EDS cluster without a service_name, which asks for its own
// name.
//
// A [Snapshot] holds resources that are judged together; nothing is compared across snapshots. [Snapshot.Build] makes
// an [Edge] of each reference: the resource that it leads to here. From, To and Serves answer questions about the edges.
//
// [Snapshot.With] makes a snapshot with other resources. If most are the same, it costs what differs (derive.go): the
// indices share what they have in common (internal/layered), and only references to what changed are looked up again.
// [Delta] holds the questions whose answers may differ, so that a run can keep the rest ([Snapshot.Asked] notes what a
// rule asks). Changes that can have effects everywhere are built from nothing: a kind that appears or vanishes, names that are
// not unique, subscriptions (SRDS, VHDS, LEDS), on-demand CDS.
//
// A missing name is a mistake only where the snapshot holds everything. [Snapshot.World] answers by kind and server:
//
//   - Closed, a mistake: the bootstrap has no dynamic source for the kind, or every source was read, or the user says
//     so.
//   - Presumed, probably a mistake: loose resources, at least one of them of that kind.
//   - Open, nothing: everything else.
//
// Every ConfigSource is a server of its own ([Source]): a resource from a file does not answer a reference that asks
// another server. Who makes a snapshot declares what is complete ([Snapshot.Complete]).
//
// A patch of an EnvoyFilter or EnvoyPatchPolicy is a resource of kind [Patch]. Its world is open. Into names the field
// that it is put into, so that the extension point is known. Around names the field of a message that was put around a
// value that is not a message. Fragment says that it is merged into another message: its absent fields say nothing, and
// its names may be declared there, so it has no edges.
//
// [Diff] lists what differs between two snapshots, by kind and name. Contents are compared as messages with their Anys
// encoded again, since equal messages can have unequal bytes.
package graph
