// Package history reads from a recording what clients had over time: resources, as a control plane sent and removed them.
// Package recording has the format, and judges the protocol; this one takes a recording for what it configures.
//
// [Read] finds the clients of a recording and the steps of each: what a response adds, replaces and removes, and what the
// client no longer asks for. A [State] goes through the steps.
//
// A client is all streams of a node, one aggregated stream after the other. Two aggregated streams that are open at the
// same time are two clients, although their node is the same.
package history
