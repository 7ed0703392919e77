package recorder_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/xds"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/reference"
)

// TestGRPCLog: the log of a client of gRPC shows the same as a recording.
func TestGRPCLog(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestGRPC$")
	cmd.Env = append(os.Environ(), "GRPC_GO_LOG_SEVERITY_LEVEL=info", "GRPC_GO_LOG_VERBOSITY_LEVEL=99")
	var log bytes.Buffer
	cmd.Stderr = &log
	if out, err := cmd.Output(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	trace := func(text []byte) (ids []string) {
		report, unjudged, err := xdslint.Trace(t.Context(), xdslint.Options{}, map[string][]byte{"grpc.log": text})
		if err != nil || unjudged > 0 {
			t.Fatalf("%d streams are not judged, %v", unjudged, err)
		}
		for _, d := range report.Diagnostics {
			ids = append(ids, d.Rule.ID())
		}
		return ids
	}
	if found := trace(log.Bytes()); len(found) > 0 {
		t.Errorf("found %s", found)
	}
	version := regexp.MustCompile(`("versionInfo": +")\d+`)
	if found := trace(version.ReplaceAll(log.Bytes(), []byte("${1}7"))); !slices.Contains(found, "protocol/version-unchanged") {
		t.Errorf("found %s, with one version for all responses", found)
	}
}

// TestGRPC: the reference server and a real client of gRPC break nothing. The client names its listener and clusters.
func TestGRPC(t *testing.T) {
	w := newWorld(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	backend := grpc.NewServer()
	healthv1.RegisterHealthServer(backend, health.NewServer())
	go func() { _ = backend.Serve(l) }() // until Stop
	defer backend.Stop()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}

	w.store.Set("web", parse(t, &listenerv3.Listener{}, `{"name": "web", "api_listener": {"api_listener": `+manager(ads)+`}}`))
	w.store.Set("web", routes(t, "*"))
	w.store.Set("shop", cluster(t, ads, "shop", "1s"))
	w.store.Set("shop", assignment(t, "shop", port))

	builder, err := xds.NewXDSResolverWithConfigForTesting([]byte(fmt.Sprintf(
		`{"xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}], "server_features": ["xds_v3"]}], "node": {"id": "proxyless-1"}}`, w.addr)))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("xds:///web", grpc.WithResolvers(builder), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	call := func() {
		t.Helper()
		if _, err := healthv1.NewHealthClient(conn).Check(w.ctx, &healthv1.HealthCheckRequest{}, grpc.WaitForReady(true)); err != nil {
			t.Fatal(err)
		}
	}
	call()
	w.answered(reference.Clusters, func() { w.store.Set("shop", cluster(t, ads, "shop", "2s")) })
	w.answered(reference.Endpoints, func() {
		changed := assignment(t, "shop", port)
		changed.Endpoints[0].Priority = 0
		changed.Endpoints[0].LoadBalancingWeight.Value = 2
		w.store.Set("shop", changed)
	})
	w.answered(reference.Clusters, func() { // gRPC has no such policy
		bad := cluster(t, ads, "shop", "2s")
		bad.EdsClusterConfig = nil
		w.store.Set("shop", bad)
	})
	w.answered(reference.Clusters, func() { w.store.Set("shop", cluster(t, ads, "shop", "3s")) })
	call()
	w.reset()
	w.answered(reference.Clusters, func() { w.store.Set("shop", cluster(t, ads, "shop", "4s")) })
	call()
	for _, finding := range w.end() {
		t.Error(finding)
	}
}
