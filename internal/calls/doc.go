// Package calls knows what a client calls to get resources: the methods of gRPC, and the paths at which a management
// server answers polls.
package calls
