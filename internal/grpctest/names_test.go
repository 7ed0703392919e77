package grpctest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	xdscreds "google.golang.org/grpc/credentials/xds"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/explain"
)

// TestNames: with the bad examples of grpc/names-not-verified, a client sends RPCs to a server with any name, and with the good one it does not.
func TestNames(t *testing.T) {
	archive, err := explain.ReadArchive("../../testdata/rules/grpc/names-not-verified.txtar")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	server := stranger(t, folder)
	for _, f := range archive.Files {
		if ok, _ := filepath.Match("*.yaml", f.Name); !ok {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			input, err := load.Texts(t.Context(), map[string][]byte{f.Name: f.Data}, load.Options{})
			if err != nil {
				t.Fatal(err)
			}
			cluster := input.Snapshots[0].Resources[0].Message.(*clusterv3.Cluster)
			if err := verifying(t, cluster, server, folder); (err != nil) != (f.Name == "good.yaml") {
				t.Errorf("an RPC gets %v", err)
			}
		})
	}
}

// stranger starts a server with a certificate for a name that no example wants, and writes the certificate as that of the authority.
func stranger(t *testing.T, folder string) *endpoint {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Now().AddDate(1, 0, 0), DNSNames: []string{"stranger.test"},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "ca.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	certificate := tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
	s := grpc.NewServer(grpc.UnknownServiceHandler(answer), grpc.Creds(credentials.NewServerTLSFromCert(&certificate)))
	go func() { _ = s.Serve(l) }()
	t.Cleanup(s.Stop)
	return endpointAt(l)
}

// verifying sends an RPC of a client that gets a cluster, and verifies servers as that says.
func verifying(t *testing.T, cluster *clusterv3.Cluster, to *endpoint, folder string) error {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	management, err := listen(func(kind, name string) *anypb.Any {
		if kind == clusterType {
			return pack(cluster)
		}
		return standard(kind, name, cluster.GetName(), to)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer management.grpc.Stop()
	text, err := json.Marshal(object{
		"xds_servers": list{object{"server_uri": management.address, "channel_creds": list{object{"type": "insecure"}}}}, "node": object{"id": "xdslint"},
		"certificate_providers": object{provider: object{"plugin_name": "file_watcher", "config": object{"ca_certificate_file": filepath.Join(folder, "ca.crt")}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := xds.NewXDSResolverWithConfigForTesting(text)
	if err != nil {
		t.Fatal(err)
	}
	creds, err := xdscreds.NewClientCredentials(xdscreds.ClientOptions{FallbackCreds: insecure.NewCredentials()})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("xds:///"+listenerName, grpc.WithResolvers(resolver), grpc.WithTransportCredentials(creds))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	err = conn.Invoke(ctx, Method, &emptypb.Empty{}, &emptypb.Empty{})
	if ctx.Err() != nil {
		t.Fatal(ctx.Err())
	}
	return err
}
