package main

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	cachetypes "github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
)

// servers run while a script does: a management server at $ADS for the node edge-1, if the script has a served.yaml, and an Envoy's admin
// interface at $ADMIN, if it has a running.json.
func servers(env *testscript.Env) error {
	if dump, err := os.ReadFile(filepath.Join(env.WorkDir, "running.json")); err == nil {
		admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			text := dump
			if r.URL.Path == "/server_info" {
				text = []byte(`{"version": "abc/1.36.5/Clean/RELEASE/BoringSSL"}`)
			}
			_, _ = w.Write(text)
		}))
		env.Defer(admin.Close)
		env.Setenv("ADMIN", admin.URL)
	}
	served := filepath.Join(env.WorkDir, "served.yaml")
	if _, err := os.Stat(served); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	input, err := load.Paths(context.Background(), []string{served}, load.Options{})
	if err != nil {
		return err
	}
	return serve(env, input.Snapshots[0])
}

func serve(env *testscript.Env, s *graph.Snapshot) error {
	ctx, cancel := context.WithCancel(context.Background())
	env.Defer(cancel)
	resources := map[string][]cachetypes.Resource{}
	for _, r := range s.Resources {
		resources[graph.TypeURL(r.Kind)] = append(resources[graph.TypeURL(r.Kind)], r.Message)
	}
	snapshot, err := cachev3.NewSnapshot("1", resources)
	if err != nil {
		return err
	}
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	if err := cache.SetSnapshot(ctx, "edge-1", snapshot); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, serverv3.NewServer(ctx, cache, nil))
	go func() { _ = server.Serve(l) }()
	env.Defer(server.Stop)
	env.Setenv("ADS", l.Addr().String())
	return nil
}
