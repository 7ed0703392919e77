package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
			last := subscribe(t, strings.TrimSpace(strings.TrimPrefix(line, "recording ")))
			if err := cmd.Process.Signal(how); err != nil {
				t.Fatal(err)
			}
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
			if n := strings.Count(string(recorded), `"nonce":"`+last+`"`); n != 1 {
				t.Errorf("the last response is in the recording %d times", n)
			}
		})
	}
}

// subscribe asks for endpoints a few times, and returns the nonce of the last response.
func subscribe(t *testing.T, addr string) (nonce string) {
	t.Helper()
	s, err := reference.Subscribe(t.Context(), addr, reference.Endpoints, "shop")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	for range 10 {
		if nonce, err = s.Ask(); err != nil {
			t.Fatal(err)
		}
	}
	return nonce
}
