package grpc

import (
	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "bootstrap-invalid",
	Severity: lint.Error,
	Summary:  "a bootstrap (GRPC_XDS_BOOTSTRAP) that gRPC rejects",
	Links:    []string{"https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md", "https://github.com/grpc/proposal/blob/master/A65-xds-mtls-creds-in-bootstrap.md", "https://github.com/grpc/proposal/blob/master/A47-xds-federation.md"},
	Run:      bootstraps(grpc.Client.BootstrapFile).And(lint.EachResource(noBootstrap, graph.Bootstrap)),
})

// noBootstrap reports a file without a field of any bootstrap but its node: Envoy takes it for one.
func noBootstrap(p *lint.Pass, r *graph.Resource) {
	if b, ok := r.Message.(*bootstrapv3.Bootstrap); ok && proto.Equal(b, &bootstrapv3.Bootstrap{Node: b.GetNode()}) {
		report(p, func(c grpc.Client) []grpc.Fault { return c.BootstrapFile(r.At(), &structpb.Struct{}) })
	}
}
