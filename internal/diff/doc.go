// Package diff compares what two snapshots do with traffic: hosts, paths, clusters, TLS, timeouts. It is `xdslint
// diff`. The place of a route table, and the names of listeners, route configurations and filter chains, are not
// differences. Neither is a route that no request reaches.
//
// [Diff] works with facts. A fact is one property that matters for traffic, with the place that it is about ([Where]).
//
//  1. pairListeners gives the listeners and filter chains of both sides the same places: by address, or else by name.
//     pairClusters finds clusters that were only renamed.
//  2. side.read gathers the facts of each side: listeners, tables, routes, clusters that get traffic. It resolves
//     references as it goes, so it does not matter whether a table is inline or comes over RDS.
//  3. facts compares them by place and property, and orders finds routes that are tried in another order, if one
//     request can match both.
//  4. shadows lists routes that differ and that no request reaches (package dataplane/envoy/match decides that).
//  5. remainder compares, resource by resource, what no fact covers, so that it is shown even where nothing models it.
//
// What only one side knows, such as the routes of a table that the other input lacks, is listed as unknown and not as a
// difference (block). The resources of a bootstrap that only one side has are left out: the other side is what is
// pushed to a data plane that has it (untouched). Values that may be secrets are shown as "set" (show).
//
// This is not graph.Diff, which compares resources by kind and name: a push changes resources, and diff says what
// requests notice.
package diff
