package envoy_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	authv3 "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	rpc "google.golang.org/grpc"

	"github.com/xdslint/xdslint/internal/envoytest"
)

type allowing struct {
	authv3.UnimplementedAuthorizationServer
}

func (allowing) Check(context.Context, *authv3.CheckRequest) (*authv3.CheckResponse, error) {
	return &authv3.CheckResponse{}, nil
}

// TestGRPCNeedsHTTP2: each call of a gRPC service fails if its cluster does not speak HTTP/2.
func TestGRPCNeedsHTTP2(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	backend := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(backend.Close)
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := rpc.NewServer()
	authv3.RegisterAuthorizationServer(server, allowing{})
	go func() { _ = server.Serve(listening) }() // until Stop
	t.Cleanup(server.Stop)

	const http2 = `typed_extension_protocol_options: {envoy.extensions.upstreams.http.v3.HttpProtocolOptions: ` +
		`{"@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions, explicit_http_config: {http2_protocol_options: {}}}}, `
	for protocol, want := range map[string]string{"": "403 UAEX", http2: "200 -"} {
		auth := strings.Replace(static("auth", listening.Addr().String()), "connect_timeout:", protocol+"connect_timeout:", 1)
		filter := "ext_authz.v3.ExtAuthz, transport_api_version: V3, grpc_service: {envoy_grpc: {cluster_name: auth}, timeout: 10s}"
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		e, err := envoytest.Serve(ctx, boot(http1(inline("route: {cluster: backend}"), filter), static("backend", backend.Listener.Addr().String()), auth), ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		if got := ask(t, ctx, e); got != want {
			t.Errorf("with %q: got %q, want %q", protocol, got, want)
		}
	}
}
