package pull_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/pull"
)

func TestRefusals(t *testing.T) {
	secure := newCertificate(t)
	silent := &fake{t: t, sotw: func(int, *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) { return nil, nil }}
	refuses := func(code codes.Code, text string) *fake {
		return &fake{t: t, sotw: func(int, *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
			return nil, status.Error(code, text)
		}}
	}
	huge := &fake{t: t, sotw: func(int, *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		return world(t, &anypb.Any{TypeUrl: clusters, Value: make([]byte, pull.MaxMessage)}), nil
	}}
	mutual := &tls.Config{Certificates: []tls.Certificate{secure.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: secure.pool}
	trusting := &tls.Config{RootCAs: secure.pool, ServerName: "localhost"}
	for _, c := range []struct {
		name   string
		server pull.Server
		want   string
	}{
		{"mute", pull.Server{Address: mute(t)}, "no connection in time: nothing listens there, or it does not speak gRPC"},
		{"unknown node", pull.Server{Address: listen(t, refuses(codes.InvalidArgument, "no such node"))}, "the server closed the stream: InvalidArgument: no such node"},
		{"who are you", pull.Server{Address: listen(t, refuses(codes.Unauthenticated, "token hunter2 is bad")), Headers: [][2]string{{"authorization", "hunter2"}}}, "the server rejects the client: token [redacted] is bad (set its credentials with --header or --tls-cert)"},
		{"who are you, without the scheme", pull.Server{Address: listen(t, refuses(codes.Unauthenticated, "token hunter2 is bad")), Headers: [][2]string{{"authorization", "Bearer hunter2"}, {"x-env", "e"}}}, "the server rejects the client: token [redacted] is bad"},
		{"colours", pull.Server{Address: listen(t, refuses(codes.Internal, "\x1b[31mred\nxdslint: all is well"))}, "the server closed the stream: Internal:  [31mred xdslint: all is well"},
		{"a web server", pull.Server{Address: strings.TrimPrefix(web(t, func(string) (int, string) { return 200, "" }), "http://")}, "(the server speaks HTTP/1.1, not gRPC: use --rest or --admin)"},
		{"no such service", pull.Server{Address: listen(t, &fake{t: t})}, "the server does not have this service: no such service (try the other --transport, or --rest)"},
		{"huge", pull.Server{Address: listen(t, huge)}, "the server's message is too large, or a limit of the server is reached"},
		{"nobody", pull.Server{Address: "127.0.0.1:1"}, "connection refused"},
		{"TLS to a plain server", pull.Server{Address: listen(t, silent), TLS: trusting}, "(a server without TLS needs --plaintext)"},
		{"plain to a TLS server", pull.Server{Address: listen(t, silent, withTLS(&tls.Config{Certificates: []tls.Certificate{secure.pair}}))}, "(for a server with TLS, omit --plaintext)"},
		{"another authority", pull.Server{Address: listen(t, silent, withTLS(mutual)), TLS: &tls.Config{ServerName: "localhost"}}, "(set the certificate authority with --tls-ca)"},
		{"another name", pull.Server{Address: listen(t, silent, withTLS(mutual)), TLS: &tls.Config{RootCAs: secure.pool, ServerName: "example.com"}}, "(set the name in the certificate with --tls-server-name)"},
		{"no certificate", pull.Server{Address: listen(t, silent, withTLS(mutual)), TLS: trusting}, "(if the server requires a client certificate, set --tls-cert and --tls-key)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			if c.name == "mute" {
				soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
				defer cancel()
				ctx = soon
			}
			_, err := pull.SotW(ctx, c.server, node("n"))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestSilence(t *testing.T) {
	f := &fake{t: t, sotw: func(int, *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) { return nil, nil }}
	if _, err := incomplete(t, pull.SotW, f); err == nil || !strings.Contains(err.Error(), "the server did not answer") {
		t.Error(err)
	}
}

// mute accepts connections and never answers.
func mute(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func TestMutualTLS(t *testing.T) {
	c := newCertificate(t)
	f := &fake{t: t, sotw: func(int, *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) { return world(t), nil }}
	address := listen(t, f, withTLS(&tls.Config{Certificates: []tls.Certificate{c.pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: c.pool}))
	client := &tls.Config{RootCAs: c.pool, ServerName: "localhost", Certificates: []tls.Certificate{c.pair}}
	if _, err := pull.SotW(t.Context(), pull.Server{Address: address, TLS: client, Headers: [][2]string{{"x-token", "t"}}}, node("n")); err != nil {
		t.Fatal(err)
	}
	if got := f.headers.Get("x-token"); !slices.Equal(got, []string{"t"}) {
		t.Errorf("x-token: %q", got)
	}
	if got := f.headers.Get("user-agent"); len(got) != 1 || !strings.HasPrefix(got[0], "xdslint") {
		t.Errorf("user-agent: %q", got)
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	f := &fake{t: t, sotw: func(int, *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		cancel()
		return world(t, edsCluster("a")), nil
	}}
	if _, err := pull.SotW(ctx, pull.Server{Address: listen(t, f)}, node("n")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// At the deadline, the result is what was received. What was not received may exist.
func TestTimeout(t *testing.T) {
	f := &fake{t: t, sotw: func(_ int, r *discoveryv3.DiscoveryRequest) (*discoveryv3.DiscoveryResponse, error) {
		if r.GetTypeUrl() == clusters {
			return world(t, edsCluster("a")), nil
		}
		return nil, nil
	}}
	got, err := incomplete(t, func(ctx context.Context, s pull.Server, r pull.Request) (*pull.Result, error) {
		ctx, cancel := context.WithTimeout(ctx, r.Wait/2)
		defer cancel()
		return pull.SotW(ctx, s, r)
	}, f)
	if err != nil || len(got.Missing) != 2 {
		t.Fatalf("%v, %+v", err, got)
	}
	if notes := got.Notes(); notes[0] != "the deadline passed before everything was received" {
		t.Errorf("%q", notes)
	}
	if found := withoutEndpoints(t, got); len(found) > 0 {
		t.Errorf("%q", found)
	}
}
