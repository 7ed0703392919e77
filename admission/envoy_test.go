package admission_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	serverv3 "github.com/envoyproxy/go-control-plane/pkg/server/v3"
	"google.golang.org/grpc"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/plan/apply"
)

// live is a gate with a server and an Envoy.
type live struct {
	*trial
	envoy   *envoytest.Envoy
	tracker *apply.Tracker
}

// envoy is the node that envoytest starts.
const envoy = "n"

// serve starts a server that has a gate for its cache, and an Envoy (SotW over ADS) that has these resources.
func serve(t *testing.T, l *live, first ...types.Resource) *live {
	t.Helper()
	if testing.Short() {
		t.Skip("starts Envoy")
	}
	envoytest.Need(t)
	if err := l.push("v0", first...); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	server, ended := grpc.NewServer(), make(chan struct{})
	discoveryv3.RegisterAggregatedDiscoveryServiceServer(server, serverv3.NewServer(ctx, l, l.tracker))
	go func() { defer close(ended); _ = server.Serve(socket) }()
	t.Cleanup(func() { stop(); server.Stop(); <-ended; http.DefaultClient.CloseIdleConnections() })
	port := socket.Addr().(*net.TCPAddr).Port
	l.envoy, err = envoytest.Serve(t.Context(), strings.Replace(bootText, "port_value: 18000", fmt.Sprint("port_value: ", port), 1), ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.envoy.Close)
	return l
}

func (l *live) push(version string, all ...types.Resource) error {
	return l.SetSnapshot(l.t.Context(), envoy, snapshot(l.t, version, all...))
}

// shows waits until a page of the admin interface has a text.
func (l *live) shows(page, text string) {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		body, err := l.envoy.Admin(ctx, page)
		if strings.Contains(string(body), text) {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			l.t.Fatalf("%s does not show %s (%v): %s\n%s", page, text, err, body, l.envoy.Log())
		}
	}
}

// TestEnvoyGetsEndpoints: Envoy gets the endpoints that it requests, though the snapshots have others, and also after such a snapshot.
func TestEnvoyGetsEndpoints(t *testing.T) {
	base := []types.Resource{listener("web", 0, "public"), table("public", "shop"), eds("shop")}
	l := serve(t, &live{try(t, nil), nil, apply.NewTracker()}, append(base, endpoints("shop", 1000))...)
	for i, extra := range [][]types.Resource{
		nil,
		{endpoints("stray", 80)},
		nil,
		{endpoints("stray", 80), endpoints("other", 80)},
		{endpoints("stray", 80), endpoints("other", 80)},
	} {
		port := uint32(1001 + i)
		if err := l.push(fmt.Sprint("v", i+1), slices.Concat(base, extra, []types.Resource{endpoints("shop", port)})...); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		l.shows("/clusters", fmt.Sprintf("10.0.0.1:%d::", port))
		t.Logf("%d of the snapshot's endpoints are not requested: Envoy has the others after %s", len(extra), time.Since(began))
	}
}
