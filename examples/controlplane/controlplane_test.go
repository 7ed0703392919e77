package controlplane

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/pull"
)

// resources of an Envoy whose requests all go to one cluster, by way of a route configuration of its name.
const resources = `
- "@type": type.googleapis.com/envoy.config.listener.v3.Listener
  name: shop
  address: {socket_address: {address: 127.0.0.1, port_value: 0}}
  filter_chains:
  - filters:
    - name: http
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
        stat_prefix: shop
        rds: {route_config_name: %[1]s, config_source: {ads: {}, resource_api_version: V3}}
        http_filters:
        - name: router
          typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}
- "@type": type.googleapis.com/envoy.config.route.v3.RouteConfiguration
  name: %[1]s
  virtual_hosts:
  - {name: shop, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: %[1]s}}]}
- "@type": type.googleapis.com/envoy.config.cluster.v3.Cluster
  name: %[1]s
  connect_timeout: 1s
  type: EDS
  eds_cluster_config: {eds_config: {ads: {}, resource_api_version: V3}}
- "@type": type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment
  cluster_name: %[1]s
  endpoints:
  - lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %[2]d}}}}]
`

const bootstrap = `
static_resources:
  clusters:
  - name: control-plane
    connect_timeout: 1s
    type: STATIC
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        explicit_http_config: {http2_protocol_options: {}}
    load_assignment:
      cluster_name: control-plane
      endpoints:
      - lb_endpoints: [{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}}]
dynamic_resources:
  ads_config: {api_type: %s, transport_api_version: V3, grpc_services: [{envoy_grpc: {cluster_name: control-plane}}]}
  cds_config: {ads: {}, resource_api_version: V3}
  lds_config: {ads: {}, resource_api_version: V3}
`

// node is the node id of a test's Envoy.
const node = "n"

// patience is how long a test waits for what takes milliseconds unless the machine is busy.
const patience = 5 * time.Minute

// TestControlPlane: the listener moves to another route configuration and cluster, the old ones are removed, and no request fails on any connection.
func TestControlPlane(t *testing.T) {
	envoytest.Need(t)
	t.Parallel()
	for _, api := range []string{"GRPC", "DELTA_GRPC"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithTimeout(t.Context(), patience)
			defer stop()
			directory := t.TempDir()
			deploy := func(version string) {
				write(t, directory, fmt.Sprintf(resources, version, upstream(t, version)))
			}
			deploy("v1")
			e, err := envoytest.Serve(ctx, fmt.Sprintf(bootstrap, start(ctx, t, directory), api), ".yaml")
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			address, err := e.Addr(ctx, "shop")
			if err != nil {
				t.Fatal(err)
			}

			shoppers := visit(ctx, "http://"+address)
			shoppers.until(t, "v1")
			deploy("v2")
			shoppers.until(t, "v2")
			eventually(t, "the old cluster is gone", func() bool {
				clusters, err := e.Admin(ctx, "/clusters")
				return err == nil && !strings.Contains(string(clusters), "v1::")
			})
			if failed := shoppers.leave(); len(failed) > 0 {
				t.Errorf("%d requests failed: %v", len(failed), failed[0])
			}
		})
	}
}

// TestBroken: a broken snapshot is not pushed, and the old one stays.
func TestBroken(t *testing.T) {
	t.Parallel()
	directory, log := t.TempDir(), &buffer{}
	c, err := New(directory, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	write(t, directory, fmt.Sprintf(resources, "v1", 8080))
	c.look(t.Context())
	c.pushes.Wait()
	before, err := c.cache.GetSnapshot(node)
	if err != nil {
		t.Fatal(err)
	}
	write(t, directory, strings.ReplaceAll(fmt.Sprintf(resources, "v2", 8080), "connect_timeout: 1s", "connect_timeout: -1s"))
	c.look(t.Context())
	c.look(t.Context())
	c.pushes.Wait()
	if after, err := c.cache.GetSnapshot(node); err != nil || after != before {
		t.Errorf("pushed all the same (%v)", err)
	}
	if got := log.String(); strings.Count(got, "not pushed") != 1 || !strings.Contains(got, "connect_timeout") {
		t.Errorf("the log says %s", got)
	}
}

// TestConform: the control plane keeps every clause of the protocol that needs no changes. TestGate of package conform tests the others.
func TestConform(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits until the server is silent, often")
	}
	t.Parallel()
	directory := t.TempDir()
	write(t, directory, fmt.Sprintf(resources, "v1", 8080))
	server := pull.Server{Address: fmt.Sprint("127.0.0.1:", start(t.Context(), t, directory))}
	options := conform.Options{Node: &corev3.Node{Id: node}, Wait: time.Minute}
	var report *conform.Report
	eventually(t, "the files are served", func() bool {
		var err error
		report, err = conform.Run(t.Context(), server, options)
		return err == nil
	})
	for _, c := range report.Clauses {
		if c.Status == conform.Broken {
			t.Error(c)
		}
	}
}

// TestProgram: the program builds. A build without its tag leaves it out.
func TestProgram(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "example", "-o", os.DevNull, "./main")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// start serves a directory and returns the port.
func start(ctx context.Context, t *testing.T, directory string) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	log := &buffer{}
	c, err := New(directory, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	c.DrainTime = envoytest.DrainTime
	ctx, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- c.Serve(ctx, l) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Log(log)
		}
	})
	return l.Addr().(*net.TCPAddr).Port
}

// write replaces the node's file at once, as an editor or a Kubernetes volume does.
func write(t *testing.T, directory, text string) {
	t.Helper()
	folder := filepath.Join(directory, node)
	next := filepath.Join(directory, "next")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(next, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, filepath.Join(folder, "shop.yaml")); err != nil {
		t.Fatal(err)
	}
}

// upstream answers with a text, and returns its port.
func upstream(t *testing.T, text string) int {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }))
	t.Cleanup(s.Close)
	return s.Listener.Addr().(*net.TCPAddr).Port
}

// crowd are clients that ask all the time: some over connections that stay open, one over new ones.
type crowd struct {
	stop context.CancelFunc
	done sync.WaitGroup

	mu     sync.Mutex
	last   [clients]string // answers
	failed []error
}

const clients = 5

func visit(ctx context.Context, url string) *crowd {
	c := &crowd{}
	ctx, c.stop = context.WithCancel(ctx)
	for i := range clients {
		c.done.Go(func() {
			client := &http.Client{Transport: &http.Transport{DisableKeepAlives: i == 0}, Timeout: patience}
			defer client.CloseIdleConnections()
			for ; ctx.Err() == nil; time.Sleep(5 * time.Millisecond) {
				answer, err := get(ctx, client, url)
				if ctx.Err() != nil {
					return
				}
				c.mu.Lock()
				if c.last[i] = answer; err != nil {
					c.failed = append(c.failed, err)
				}
				c.mu.Unlock()
			}
		})
	}
	return c
}

func get(ctx context.Context, client *http.Client, url string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return "", err
	}
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", response.Status, body)
	}
	return string(body), err
}

// until all get an answer.
func (c *crowd) until(t *testing.T, answer string) {
	t.Helper()
	eventually(t, "all get "+answer, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, last := range c.last {
			if last != answer {
				return false
			}
		}
		return true
	})
}

func (c *crowd) leave() []error {
	c.stop()
	c.done.Wait()
	return c.failed
}

func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not seen in %s: %s", patience, what)
		}
	}
}

// buffer is a log that a test reads while it is written.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
