package recorder_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/recorder"
	"github.com/xdslint/xdslint/internal/reference"
)

// serve serves all methods with one function. It returns the address.
func serve(t *testing.T, handle func(st grpc.ServerStream) error, options ...grpc.ServerOption) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(append(options, grpc.UnknownServiceHandler(func(_ any, st grpc.ServerStream) error { return handle(st) }))...)
	go func() { _ = s.Serve(l) }() // until Stop
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// open opens an aggregated stream of SotW over a connection of its own.
func open(t *testing.T, addr string) (*grpc.ClientConn, grpc.BidiStreamingClient[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse]) {
	t.Helper()
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	st, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return conn, st
}

// echo answers each request with its type and a nonce of its own, until one asks for the end.
func echo(st grpc.ServerStream) error {
	for n := 1; ; n++ {
		q := &discoveryv3.DiscoveryRequest{}
		if err := st.RecvMsg(q); err != nil {
			return err
		}
		if q.GetTypeUrl() == "end" {
			return status.Error(codes.Aborted, "the end")
		}
		if err := st.SendMsg(&discoveryv3.DiscoveryResponse{TypeUrl: q.GetTypeUrl(), Nonce: fmt.Sprint(n), VersionInfo: "1"}); err != nil {
			return err
		}
	}
}

// TestGoAway: a stream lives on when the server has asked its connection to close, as it does without a proxy, and a new
// one gets a new connection.
func TestGoAway(t *testing.T) {
	t.Parallel()
	addr := serve(t, echo, grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 200 * time.Millisecond}))
	proxy, out, path, addr := record(t, addr)
	conn, first := open(t, addr)
	said := 0
	ask := func(st grpc.BidiStreamingClient[discoveryv3.DiscoveryRequest, discoveryv3.DiscoveryResponse], typeURL string) error {
		if err := st.Send(&discoveryv3.DiscoveryRequest{TypeUrl: typeURL}); err != nil {
			return err
		}
		_, err := st.Recv()
		if err == nil {
			said++
		}
		return err
	}
	for began := time.Now(); time.Since(began) < 800*time.Millisecond; time.Sleep(10 * time.Millisecond) {
		if err := ask(first, "t"); err != nil {
			t.Fatalf("after %s: %v", time.Since(began), err)
		}
	}
	second, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := ask(second, "t"); err != nil {
		t.Fatalf("a new stream: %v", err)
	}
	if err := ask(first, "end"); status.Code(err) != codes.Aborted {
		t.Errorf("the first stream ends with %v", err)
	}
	proxy.Stop()
	recorded := lines(t, out, path)
	if got := strings.Count(recorded, `"response":`); got < said || strings.Count(recorded, `"opened":`) != 2 || !strings.Contains(recorded, `"closed":{"code":"Aborted"`) {
		t.Errorf("%d of %d responses in\n%s", got, said, recorded)
	}
}

// lines ends a recording, and returns it.
func lines(t *testing.T, out interface{ Close() error }, path string) string {
	t.Helper()
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAway: when a server returns that was away, clients get through the proxy as soon as without it.
func TestAway(t *testing.T) {
	t.Parallel()
	store := reference.NewStore()
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy, _, _, addr := record(t, server.Address)
	defer proxy.Stop()
	conn, st := open(t, addr) // it keeps its connection to the proxy
	ask := func() error {
		err := st.Send(&discoveryv3.DiscoveryRequest{TypeUrl: reference.Clusters})
		if err == nil {
			_, err = st.Recv()
		}
		return err
	}
	again := func() error {
		var err error
		if st, err = discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(t.Context()); err != nil {
			return err
		}
		return ask()
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	for began := time.Now(); time.Since(began) < 3*time.Second; time.Sleep(50 * time.Millisecond) {
		if again() == nil {
			t.Fatal("an answer of a server that is away")
		}
	}
	if server, err = reference.Serve(store, server.Address); err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	for tries := 0; again() != nil; tries++ { // they take longer on a busy machine, as connecting does
		if tries == 80 {
			t.Fatalf("no answer to %d tries, 20 ms apart", tries)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestSlow: if one side is slow, the other one waits as it does without a proxy. Nothing is lost, and the order is kept.
func TestSlow(t *testing.T) {
	t.Parallel()
	const all = 300
	filling := bytes.Repeat([]byte("x"), 100_000)
	message := func(n int) *discoveryv3.DiscoveryResponse {
		return &discoveryv3.DiscoveryResponse{Nonce: fmt.Sprint(n), VersionInfo: string(filling)}
	}
	t.Run("client", func(t *testing.T) {
		var sent atomic.Int64
		proxy, out, path, addr := record(t, serve(t, func(st grpc.ServerStream) error {
			for n := range all {
				if err := st.SendMsg(message(n)); err != nil {
					return err
				}
				sent.Add(1)
			}
			return nil
		}))
		_, st := open(t, addr)
		settle(t, &sent, all)
		for n, err := 0, error(nil); err == nil; n++ {
			var p *discoveryv3.DiscoveryResponse
			if p, err = st.Recv(); err == nil && p.GetNonce() != fmt.Sprint(n) || err != nil && n != all {
				t.Fatalf("response %d: %s, %v", n, p.GetNonce(), err)
			}
		}
		proxy.Stop()
		inOrder(t, lines(t, out, path), `"nonce":"`, all)
	})
	t.Run("server", func(t *testing.T) {
		var sent atomic.Int64
		read := make(chan bool)
		proxy, out, path, addr := record(t, serve(t, func(st grpc.ServerStream) error {
			<-read
			for range all {
				if err := st.RecvMsg(&discoveryv3.DiscoveryRequest{}); err != nil {
					return err
				}
			}
			return nil
		}))
		_, st := open(t, addr)
		go func() {
			for n := range all {
				if st.Send(&discoveryv3.DiscoveryRequest{ResponseNonce: fmt.Sprint(n), VersionInfo: string(filling)}) != nil {
					return
				}
				sent.Add(1)
			}
		}()
		settle(t, &sent, all)
		close(read)
		if _, err := st.Recv(); err == nil || err.Error() != "EOF" {
			t.Fatal(err)
		}
		proxy.Stop()
		inOrder(t, lines(t, out, path), `"response_nonce":"`, all)
	})
}

// settle waits until no more is sent. The buffers of three connections hold less than all of it.
func settle(t *testing.T, sent *atomic.Int64, all int64) {
	t.Helper()
	for before := int64(-1); before != sent.Load(); time.Sleep(200 * time.Millisecond) {
		before = sent.Load()
	}
	if n := sent.Load(); n == all {
		t.Errorf("all is sent, and no one reads it")
	} else {
		t.Logf("%d of %d messages are sent", n, all)
	}
}

// inOrder checks that a recording has numbers in their order.
func inOrder(t *testing.T, recorded, before string, all int) {
	t.Helper()
	parts := strings.Split(recorded, before)[1:]
	if len(parts) != all {
		t.Errorf("%d of %d messages are recorded", len(parts), all)
	}
	for n, part := range parts {
		if !strings.HasPrefix(part, fmt.Sprint(n)+`"`) {
			t.Fatalf("message %d is %.10s", n, part)
		}
	}
}

// TestLost: when the recording cannot be written, nothing is passed on that is not in it.
func TestLost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "xds.jsonl")
	out, err := recorder.Create(path, 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(strings.TrimSuffix(path, ".jsonl")+".2.jsonl", nil, 0o600); err != nil { // no file is replaced
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	proxy := recorder.New(serve(t, echo), nil, out)
	go func() { _ = proxy.Serve(l) }() // until Stop
	go func() {
		<-out.Failed()
		time.Sleep(200 * time.Millisecond) // what is under way gets through, if it can
		proxy.Stop()
	}()
	_, st := open(t, l.Addr().String())
	seen := 0
	for ; err == nil; seen++ {
		if err = st.Send(&discoveryv3.DiscoveryRequest{TypeUrl: "t"}); err == nil {
			_, err = st.Recv()
		}
	}
	if err := out.Close(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the recording ends with %v", err)
	}
	recorded, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := bytes.Count(recorded, []byte(`"response":`)); got < seen-1 {
		t.Errorf("%d responses are seen, and %d are recorded", seen-1, got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := recorder.Create(path, 1); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a recording begins whose second part exists: %v", err)
	}
}
