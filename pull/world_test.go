package pull_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	_ "github.com/xdslint/xdslint/internal/decode/linked" // the gateway resolves Anys by the global registry
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/reference"
	"github.com/xdslint/xdslint/pull"
)

// certificate is a self-signed certificate, as PEM.
type certificate struct {
	chain, key []byte
	pair       tls.Certificate
	pool       *x509.CertPool
}

func newCertificate(t *testing.T) (c certificate) {
	t.Helper()
	c.chain, c.key = envoytest.KeyPair(t, "localhost")
	var err error
	if c.pair, err = tls.X509KeyPair(c.chain, c.key); err != nil {
		t.Fatal(err)
	}
	c.pool = x509.NewCertPool()
	c.pool.AppendCertsFromPEM(c.chain)
	return c
}

// hidden are texts that no output may contain: a line of the key, and the value of a header.
func (c certificate) hidden() []string {
	return []string{strings.Split(string(c.key), "\n")[1], "hunter2-header"}
}

// edge is the snapshot of testdata/edge.yaml with certificates.
func edge(t *testing.T, c certificate) *cachev3.Snapshot {
	t.Helper()
	input, err := load.Paths(t.Context(), []string{"testdata/edge.yaml"}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	resources := map[string][]types.Resource{}
	for _, r := range input.Snapshots[0].Resources {
		url := graph.TypeURL(r.Kind)
		resources[url] = append(resources[url], r.Message)
	}
	for _, name := range []string{"edge", "edge-client"} {
		url := graph.TypeURL(graph.Secret)
		resources[url] = append(resources[url], &tlsv3.Secret{Name: name, Type: &tlsv3.Secret_TlsCertificate{TlsCertificate: &tlsv3.TlsCertificate{
			CertificateChain: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: string(c.chain)}},
			PrivateKey:       &corev3.DataSource{Specifier: &corev3.DataSource_InlineBytes{InlineBytes: c.key}},
		}}})
	}
	snapshot, err := cachev3.NewSnapshot("7", resources)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// controlPlane serves a snapshot to the node "edge-1". A strict one answers a request only if it names all resources of the type. An Envoy
// then never gets the secret of a cluster if there is another one for listeners, which it requests later.
type controlPlane struct {
	server serverv3.Server
	cache  cachev3.SnapshotCache
}

func newControlPlane(t *testing.T, snapshot cachev3.ResourceSnapshot, strict bool) *controlPlane {
	t.Helper()
	cache := cachev3.NewSnapshotCache(strict, cachev3.IDHash{}, nil)
	if err := cache.SetSnapshot(t.Context(), "edge-1", snapshot); err != nil {
		t.Fatal(err)
	}
	return &controlPlane{serverv3.NewServer(t.Context(), cache, nil), cache}
}

// listen serves ADS on a port of this machine.
func listen(t *testing.T, ads discoveryv3.AggregatedDiscoveryServiceServer, options ...grpc.ServerOption) (address string) {
	t.Helper()
	return serving(t, func(s *grpc.Server) { discoveryv3.RegisterAggregatedDiscoveryServiceServer(s, ads) }, options...)
}

func withTLS(c *tls.Config) grpc.ServerOption { return grpc.Creds(credentials.NewTLS(c)) }

// gateway serves a snapshot over REST.
func (cp *controlPlane) gateway(t *testing.T) (url string) {
	t.Helper()
	gateway := &serverv3.HTTPGateway{Server: cp.server}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, status, err := gateway.ServeHTTP(r)
		w.WriteHeader(status)
		if err != nil {
			body = []byte(err.Error())
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

func node(id string) pull.Request {
	return pull.Request{Node: &corev3.Node{Id: id, Cluster: "edge"}, Wait: time.Minute}
}

// incomplete pulls from a server that never sends a part of what is requested. The server is in memory, and the time is that of a bubble.
func incomplete(t *testing.T, f fetch, ads discoveryv3.AggregatedDiscoveryServiceServer) (got *pull.Result, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l, server := reference.Memory()
		serveOn(t, l, func(s *grpc.Server) { discoveryv3.RegisterAggregatedDiscoveryServiceServer(s, ads) })
		got, err = f(t.Context(), server, node("n"))
	})
	return got, err
}

// write writes a result into a folder.
func write(t *testing.T, r *pull.Result) (dir string) {
	t.Helper()
	files, err := r.Files()
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// read reads a folder or a file into a graph.
func read(t *testing.T, path string) *graph.Snapshot {
	t.Helper()
	input, err := load.Paths(context.Background(), []string{path}, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(input.Snapshots) != 1 {
		t.Fatalf("%s holds %d snapshots", path, len(input.Snapshots))
	}
	for _, r := range input.Snapshots[0].Resources {
		for _, p := range r.Problems {
			t.Errorf("%s %s: %s", r.Kind, r.Name, p.Message)
		}
	}
	return input.Snapshots[0]
}

// nothingHidden looks for secrets in all files below a folder.
func nothingHidden(t *testing.T, dir string, hidden []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range hidden {
			if strings.Contains(string(text), secret) {
				t.Errorf("%s shows a secret", entry.Name())
			}
		}
	}
}
