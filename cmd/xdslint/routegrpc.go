package main

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/internal/resolve"
	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// grpcFlags describe a client of gRPC, and the target of its channel.
type grpcFlags struct {
	target, targetURI string
	grpcEnv           []string
}

func (f *grpcFlags) add(flags *pflag.FlagSet) {
	grouped(flags, requestGroup, func() {
		flags.StringVar(&f.target, "target", "", "who gets the request, as `PLANE:VERSION`: envoy:1.40 or grpc-go:1.85 (default envoy:1.40)")
		flags.StringVar(&f.targetURI, "target-uri", "", "`URI` of the channel, for grpc-go: xds:///service:port; without it, the RPC comes to a server")
		addGRPCEnv(flags, &f.grpcEnv)
	})
}

// aboutGRPC reports whether an RPC is followed, and not a request.
func (f *grpcFlags) aboutGRPC() bool {
	target, err := dataplane.Parse(f.target)
	return f.targetURI != "" || f.target != "" && (err != nil || target != dataplane.Default())
}

// runGRPC follows RPCs.
func (f *routeFlags) runGRPC(cmd *cobra.Command, args []string) error {
	target, err := dataplane.Parse(cmp.Or(f.target, grpc.Go))
	switch {
	case err != nil:
		return err
	case target.Plane != grpc.Go:
		return fmt.Errorf("what %s does with requests is not known: choose %s or grpc-go:1.85", target, dataplane.Default())
	case (f.targetURI == "" && f.method == "GET") == (f.requests == ""):
		return errors.New("give an RPC with --target-uri and --method, or a file with --requests")
	case f.targetURI != "" && f.method == "GET": // the default
		return errors.New("an RPC needs --method, such as /shop.Orders/Get")
	}
	r, err := f.resolver(cmd, args, target)
	if err != nil {
		return err
	}
	return answerEach(cmd, f, f.rpc, r.Walk)
}

// rpc is the RPC that the flags describe.
func (f *routeFlags) rpc() (*resolve.RPC, error) {
	headers, err := f.headerPairs()
	rpc := &resolve.RPC{
		Target: f.targetURI, Authority: f.authority, Method: f.method,
		Listener: f.listener, Port: f.port, Source: f.source, Destination: f.destination, ClientCert: f.cert,
	}
	for _, h := range headers {
		rpc.Headers = append(rpc.Headers, resolve.Header(h))
	}
	return rpc, err
}

// resolver reads the configuration, and finds what the client rejects in it.
func (f *routeFlags) resolver(cmd *cobra.Command, args []string, target dataplane.Target) (*resolve.Resolver, error) {
	env, err := grpc.ReadEnv(f.grpcEnv)
	if err != nil {
		return nil, err
	}
	snapshot, err := f.one(cmd, args)
	if err != nil {
		return nil, err
	}
	rejected, err := verdict.Rejected(cmd.Context(), snapshot, lint.Config{Rules: rules.Builtin(), Target: target, TargetGiven: true, GRPCEnv: env})
	if err != nil {
		return nil, failed(err)
	}
	return resolve.New(snapshot, grpc.ClientOf(snapshot, target, env), rejected), nil
}
