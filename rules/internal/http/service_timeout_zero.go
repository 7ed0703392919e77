package http

import (
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	ratelimitv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ratelimit/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "service-timeout-zero",
	Severity: lint.Warning,
	Summary:  "the timeout of an authorization or rate limit service is 0s, which is forever",
	Links:    []string{"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/ext_authz_filter"},
	Run: lint.EachNamed(func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		if !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		switch m := m.Interface().(type) {
		case *extauthzv3.ExtAuthz:
			checkTimeout(p, at.Field("grpc_service", "timeout"), m.GetGrpcService().GetTimeout())
			checkTimeout(p, at.Field("http_service", "server_uri", "timeout"), m.GetHttpService().GetServerUri().GetTimeout())
		case *ratelimitv3.RateLimit:
			checkTimeout(p, at.Field("timeout"), m.GetTimeout())
		}
	}, nameOf(&extauthzv3.ExtAuthz{}), nameOf(&ratelimitv3.RateLimit{})),
})

func checkTimeout(p *lint.Pass, at lint.At, d *durationpb.Duration) {
	if d == nil || d.AsDuration() != 0 {
		return
	}
	p.Report(at, lint.Diagnostic{
		Message: "requests wait for this service forever",
		Notes:   []string{"Envoy takes 0s for no timeout: a service that hangs stops all traffic"},
		Help:    "write how long a request may wait, such as 0.2s",
	})
}
