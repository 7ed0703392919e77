package recorder_test

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// authorities answers a call with its :authority.
func authorities(st grpc.ServerStream) error {
	return status.Error(codes.Aborted, metadata.ValueFromIncomingContext(st.Context(), ":authority")[0])
}

// TestAuthority: the upstream gets the :authority that a client chooses, whatever its certificate is for, and else its own.
func TestAuthority(t *testing.T) {
	certificate, key := envoytest.KeyPair(t, "localhost")
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(certificate)
	for _, secure := range []*tls.Config{nil, {RootCAs: trusted, MinVersion: tls.VersionTLS13}} {
		var options []grpc.ServerOption
		if secure != nil {
			options = append(options, grpc.Creds(credentials.NewServerTLSFromCert(&pair)))
		}
		_, port, err := net.SplitHostPort(serve(t, authorities, options...))
		if err != nil {
			t.Fatal(err)
		}
		upstream := net.JoinHostPort("localhost", port)
		proxy, out, path, addr := recordOver(t, upstream, secure)
		for _, test := range []struct {
			options []grpc.DialOption
			want    string
		}{
			{nil, upstream},
			{[]grpc.DialOption{grpc.WithAuthority("xds.example.com")}, "xds.example.com"},
		} {
			conn, err := grpc.NewClient(addr, append(test.options, grpc.WithTransportCredentials(insecure.NewCredentials()))...)
			if err != nil {
				t.Fatal(err)
			}
			st, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err = st.Recv(); status.Convert(err).Message() != test.want {
				t.Errorf("TLS: %t: %v, want %s", secure != nil, err, test.want)
			}
			_ = conn.Close()
		}
		proxy.Stop()
		lines(t, out, path)
	}
}
