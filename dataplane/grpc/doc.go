// Package grpc knows what gRPC's own xDS clients and servers do with their configuration ("proxyless gRPC"): what they
// reject, what they silently ignore, and after which accepted resource every RPC fails.
//
// Each function names the function of grpc-go that it follows and, where there is one, the gRFC
// (https://github.com/grpc/proposal). What is said about grpc-go is tested with a real client. What is said about
// grpc-java and grpc-core was read in their sources, and was not run.
//
// The functions are methods of a [Client], which says which implementation, with which environment variables and which
// bootstrap. They return a [Fault] for each place: the caller makes findings of them. A client stops at its first error;
// these functions return all.
package grpc
