// Package gocp converts the snapshots of a go-control-plane cache to graphs: all of a snapshot ([Snapshot]), or one
// resource ([Resource]). It keeps that module's cache out of package load.
//
// The graph shares the messages of the snapshot, so neither may be changed afterwards. A resource has no text: findings
// in it have paths and no positions. Each message must be of the Go type for its type URL, because a dynamic message
// changes when it is read (decode.Decoder.Open puts Go types into it).
//
// All resources of a snapshot have the same file, since rules compare within a file. Types of go-control-plane that
// Envoy does not know are left out. A missing name is presumed to be a mistake; the gate, which knows what the node was
// ever served, declares more.
package gocp
