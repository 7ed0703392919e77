package conform_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/xds"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestMain runs more tests side by side than there are processors: they wait more than they compute.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// judgeClient tests the client that start starts.
func judgeClient(t *testing.T, start func(ctx context.Context, addr string)) *conform.Report {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	started := make(chan struct{})
	go func() {
		defer close(started)
		start(ctx, l.Addr().String())
	}()
	report, err := conform.Clients(ctx, l, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	<-started
	if os.Getenv("SHOW_REPORT") != "" {
		t.Logf("%s", report.Text())
	}
	for _, note := range report.Notes {
		t.Error(note)
	}
	return report
}

// brokenBy returns the clauses that a client breaks, each with the name of the type.
func brokenBy(report *conform.Report) (all []string) {
	for _, c := range report.Clauses {
		if c.Status == conform.Broken {
			all = append(all, strings.TrimPrefix(c.Clause, "protocol/")+" "+c.Type[strings.LastIndexByte(c.Type, '.')+1:])
		}
	}
	return all
}

// envoyBreaks is what Envoys break, by whether they speak Delta, and over an aggregated stream.
var envoyBreaks = map[[2]bool][]string{
	{false, true}: {"duplicate-name-accepted ClusterLoadAssignment", "duplicate-name-accepted RouteConfiguration"},
	{true, true}:  {"nack-unnamed Cluster", "nack-unnamed ClusterLoadAssignment"},
	{true, false}: {"nack-unnamed Cluster"},
}

// TestEnvoys: what real Envoys break is true, and listed in docs/conformance.md.
func TestEnvoys(t *testing.T) {
	t.Parallel()
	versions := []envoytest.Version{envoytest.Newest}
	if !testing.Short() {
		versions = []envoytest.Version{"1.36", "1.37", "1.38", "1.39", envoytest.Newest}
	}
	envoytest.Need(t, versions...)
	for _, version := range versions {
		for _, delta := range []bool{false, true} {
			for _, aggregated := range []bool{true, false} {
				if testing.Short() && !aggregated {
					continue // a minute each
				}
				t.Run(fmt.Sprintf("%s, Delta %t, aggregated %t", version, delta, aggregated), func(t *testing.T) {
					t.Parallel()
					report := judgeClient(t, func(ctx context.Context, addr string) {
						envoy, err := version.Serve(ctx, envoytest.Streams{Delta: delta, PerType: !aggregated}.Bootstrap(addr), ".yaml")
						if err != nil {
							t.Error(err)
							return
						}
						t.Cleanup(envoy.Close)
					})
					if diff := cmp.Diff(envoyBreaks[[2]bool{delta, aggregated}], brokenBy(report)); diff != "" {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// TestGRPCGo: the same for a client of grpc-go. After a response of a type that it does not know, v1.85.0 reads nothing more:
// in ads_stream.go, recv marks an update as pending, and onResponse does not say that it is done.
func TestGRPCGo(t *testing.T) {
	t.Parallel()
	report := judgeClient(t, func(_ context.Context, addr string) {
		builder, err := xds.NewXDSResolverWithConfigForTesting([]byte(fmt.Sprintf(
			`{"xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}], "server_features": ["xds_v3"]}], "node": {"id": "proxyless-1"}}`, addr)))
		if err != nil {
			t.Error(err)
			return
		}
		conn, err := grpc.NewClient("xds:///shop", grpc.WithResolvers(builder), grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Error(err)
			return
		}
		conn.Connect()
		t.Cleanup(func() { _ = conn.Close() })
	})
	want := []string{
		"answer-missing Listener", "answer-missing RouteConfiguration", "answer-missing Cluster", "answer-missing ClusterLoadAssignment",
		"duplicate-name-accepted Listener", "duplicate-name-accepted RouteConfiguration", "duplicate-name-accepted Cluster", "duplicate-name-accepted ClusterLoadAssignment",
		"heartbeat-rejected Listener", "heartbeat-rejected RouteConfiguration", "heartbeat-rejected Cluster", "heartbeat-rejected ClusterLoadAssignment",
		"nack-unnamed Cluster", "nack-unnamed ClusterLoadAssignment",
	}
	if diff := cmp.Diff(want, brokenBy(report)); diff != "" {
		t.Error(diff)
	}
}

// TestNoClient: nothing connects.
func TestNoClient(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conform.Clients(t.Context(), l, time.Millisecond); !errors.Is(err, conform.ErrNoClient) {
		t.Errorf("%v, want %v", err, conform.ErrNoClient)
	}
}
