package bootstrap

import (
	"fmt"
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "google-grpc",
	Severity: lint.Error,
	Summary:  "a google_grpc service has metadata or credentials that gRPC rejects",
	Links: []string{
		"GoogleAsyncClientFactoryImpl::GoogleAsyncClientFactoryImpl (source/common/grpc/async_client_manager_impl.cc)",
		"getGoogleGrpcChannelCredentials (source/common/grpc/google_grpc_creds_impl.cc)",
	},
	Run: lint.Each(func(p *lint.Pass, at lint.At, service *corev3.GrpcService) {
		x := p.Target.Extensions()
		if service.GetGoogleGrpc() == nil || at.Resource().State != "" || !envoy.OuterRead(x, at.Place) || !connected(at) {
			return
		}
		for _, w := range append(wrongMetadata(at, service), wrongCredentials(x, at, service)...) {
			w.reject(p)
		}
	}),
})

// clients are the fields for which Envoy creates a gRPC client when it loads them. A tracer is created only for a connection manager.
var clients = map[protoreflect.FullName]bool{
	"envoy.config.metrics.v3.MetricsServiceConfig.grpc_service":                                   true,
	"envoy.config.trace.v3.OpenTelemetryConfig.grpc_service":                                      true,
	"envoy.extensions.access_loggers.grpc.v3.CommonGrpcAccessLogConfig.grpc_service":              true,
	"envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig.grpc_service": true,
	"envoy.extensions.filters.http.rate_limit_quota.v3.RateLimitQuotaFilterConfig.rlqs_server":    true,
	"envoy.extensions.stat_sinks.open_telemetry.v3.SinkConfig.grpc_service":                       true,
}

func connected(at lint.At) bool {
	fd := envoy.FieldOf(at.Place)
	if fd == nil {
		return false
	}
	if api, ok := at.Place.Parent.Message.Interface().(*corev3.ApiConfigSource); ok {
		u := useOf(at.Place.Parent)
		return u != usedLate && connects(api, u) && api.GetGrpcServices()[0] == at.Place.Message.Interface()
	}
	if fd.FullName() == "envoy.config.trace.v3.OpenTelemetryConfig.grpc_service" {
		_, manager := graph.Around[*hcmv3.HttpConnectionManager](at.Place)
		return manager != nil
	}
	return clients[fd.FullName()]
}

func wrongMetadata(at lint.At, service *corev3.GrpcService) (all []wrong) {
	for i, h := range service.GetInitialMetadata() {
		at := at.Item("initial_metadata", i)
		switch {
		case strings.ContainsFunc(h.GetKey(), noKey):
			all = append(all, wrong{
				at.Field("key"), fmt.Sprintf("gRPC rejects the metadata key %q", h.GetKey()), "use only letters, digits, _, . and -",
				fmt.Sprintf("Illegal characters in gRPC initial metadata header key: %s.", h.GetKey()),
			})
		case !strings.HasSuffix(h.GetKey(), "-bin") && strings.ContainsFunc(h.GetValue(), func(r rune) bool { return r < 0x20 || r > 0x7e }):
			all = append(all, wrong{
				at.Field("value"), "gRPC rejects these characters in metadata", "use only printable ASCII, or let the key end in -bin",
				fmt.Sprintf("Illegal ASCII value for gRPC initial metadata header key: %s.", h.GetKey()),
			})
		}
	}
	return all
}

// noKey reports whether a character is not allowed in a key of gRPC metadata (validateGrpcHeaderChars).
func noKey(r rune) bool {
	return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("_.-", r)
}

func wrongCredentials(x *dataplane.Extensions, at lint.At, service *corev3.GrpcService) []wrong {
	name := service.GetGoogleGrpc().GetCredentialsFactoryName()
	if name == "" {
		return nil
	}
	for _, e := range x.ByName(name) {
		if e.Category == "envoy.grpc_credentials" {
			return nil
		}
	}
	return []wrong{{
		at.Field("google_grpc", "credentials_factory_name"), fmt.Sprintf("Envoy does not have gRPC credentials %q", name),
		"remove it to use channel_credentials and call_credentials as they are",
		"Unknown google grpc credentials factory: " + name,
	}}
}
