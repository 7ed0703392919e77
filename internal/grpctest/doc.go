// Package grpctest asks a real grpc-go client, in this process: would it take these resources ([Client.Judge]), and what does an RPC get
// ([Call])? It uses only the public packages of grpc-go, whose features are those of the default environment.
package grpctest
