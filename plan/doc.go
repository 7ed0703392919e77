// Package plan finds what a push from one snapshot to the next breaks, and an order of changes that breaks nothing. It
// does no input or output: it makes plans from the changes of [graph.Diff], and package plan/apply carries them out.
//
// [Hazards] runs the rules of the group transition for a plain push. [Broken] judges one snapshot by itself. [Make]
// makes the plan, in the order of its body:
//
//  1. steps makes a step of each change: an update or a removal of one resource.
//  2. subsets, references, listeners, scopes, filters and drains demand orders: a step comes in the same phase as another
//     one or later (notBefore), or in a later phase (nextPhase), which means after the ACK.
//  3. level gives each step the first phase that all orders allow.
//  4. resends adds endpoints that Envoy waits for again after a cluster changed.
//  5. phases groups the steps, adds what to wait for, and records the state after each phase (settle).
//
// Why this order: a cluster comes before what newly refers to it, since requests need it warm. Changed endpoints come
// before the requests that newly go there, and endpoints are removed after the requests that leave. A removal comes
// after the last reference to the resource, and after the drain of the connections that still use it: until they are
// closed, they stay on the listener, filter chain and route configuration on which they began. Clusters are removed
// last of all, because the configuration does not show every use of a cluster.
//
// Draining connections read what the old listener leads to. What Envoy keeps after its removal does them no harm, such as
// a route configuration (envoy.Drops). All else that a step takes from them waits (usage.takesAway): clusters, scopes,
// virtual hosts, over Delta the settings of a filter, and in what has other uses too, the last endpoints, those of a subset,
// and per-route configuration of a filter that the new listener does not have.
//
// For clients of gRPC (Options.Family), channels takes the place of all orders but references: such a client keeps what it uses until it
// has what comes next.
//
// Two contents can depend on each other: a filter and its per-route configuration, a subset and what selects it. A
// resource that requests need both as it was and as it will be is sent in steps, first with what is new next to what is
// old (interim). Scopes that exchange keys have substitutes for one phase (handOver). Where no content serves both, as when
// a cluster gets other routes and other endpoints, the steps come in one phase, and Remaining says so.
//
// Orders can contradict each other. Steps that wait for each other in a circle come in one phase (possible). A wish is
// an order that is dropped if it would close a circle (granting); the constants of type wish are in the order of their
// weight.
//
// What Envoy requests by name comes in the phase of the first request (delayToFirstUse). settle removes it for as long
// as nothing requests it. The reason is go-control-plane's SnapshotCache: over ADS (SotW) it withholds a whole type if
// it holds one name that is not requested.
//
// Some steps are not changes between the snapshots: temporary scopes, which make Envoy fetch a route configuration
// before a scope moves to it, or have its key for a phase; interim contents; route configurations of draining connections
// with the content of their successors (Options.Repoint); endpoints that are sent again. [Content] marks them.
//
// A property test holds the invariants, for snapshots that are closed under references: so is every state between them,
// the last state is the new snapshot, and the same snapshots give the same plan. [Plan.Remaining] runs the transition
// rules over the way from each state to the next. What they still find, no order avoids.
package plan
