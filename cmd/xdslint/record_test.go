package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// TestRecord: what a client has seen is in the recording, whether xdslint record is stopped or killed.
func TestRecord(t *testing.T) {
	store := reference.NewStore()
	store.Set("shop", &endpointv3.ClusterLoadAssignment{ClusterName: "shop"})
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		t.Run(how.String(), func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "xds.jsonl")
			cmd := exec.CommandContext(t.Context(), "xdslint", "record", "--listen", "127.0.0.1:0", "--upstream", server.Address, "--plaintext", "--out", file)
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			seen := subscribers(t, strings.TrimSpace(strings.TrimPrefix(line, "recording ")), func() error { return cmd.Process.Signal(how) })
			if err := cmd.Wait(); (err == nil) != (how == syscall.SIGTERM) {
				t.Errorf("it ends with %v", err)
			}
			text, err := exec.CommandContext(t.Context(), "xdslint", "trace", file).CombinedOutput()
			if err != nil || string(text) != "no findings in 1 file\n" {
				t.Errorf("%v: %s", err, text)
			}
			recorded, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for nonce, n := range seen {
				if got := strings.Count(string(recorded), `"nonce":"`+nonce+`"`); got < n {
					t.Errorf("%d clients have seen a response with the nonce %s, and %d are in the recording", n, nonce, got)
				}
			}
		})
	}
}

// subscribers let some clients ask all the time, and stop their proxy in the middle of it. It returns how many clients
// have seen a response with each nonce.
func subscribers(t *testing.T, addr string, stop func() error) (seen map[string]int) {
	t.Helper()
	seen = map[string]int{}
	var mu sync.Mutex
	var clients sync.WaitGroup
	enough := make(chan struct{})
	for range 4 {
		s, err := reference.Subscribe(t.Context(), addr, reference.Endpoints, "shop")
		if err != nil {
			t.Fatal(err)
		}
		clients.Go(func() {
			defer func() { _ = s.Close() }()
			for n := 1; ; n++ {
				nonce, err := s.Ask()
				mu.Lock()
				if nonce != "" {
					seen[nonce]++
				}
				mu.Unlock()
				if n == 50 {
					enough <- struct{}{}
				}
				if err != nil {
					return
				}
			}
		})
	}
	for range 4 {
		<-enough
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	clients.Wait()
	return seen
}
