package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/reference"
)

// TestRecord: what a client has seen is in the recording, whether xdslint record is stopped or killed, also with 10,000
// resources in each response and with several parts.
func TestRecord(t *testing.T) {
	var names []string
	store := reference.NewStore()
	for i := range 10_000 {
		names = append(names, fmt.Sprint("shop-", i))
		store.Set(names[i], &endpointv3.ClusterLoadAssignment{ClusterName: names[i]})
	}
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	for _, how := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		for _, of := range []struct {
			names  []string
			rounds int
		}{{names[:1], 50}, {names, 2}} {
			t.Run(fmt.Sprintf("%s, %d resources", how, len(of.names)), func(t *testing.T) {
				file := filepath.Join(t.TempDir(), "xds.jsonl")
				cmd, addr := startRecord(t, nil, "--upstream", server.Address, "--plaintext", "--out", file, "--part-size", "1")
				seen := subscribers(t, addr, of.names, of.rounds, func() error { return cmd.Process.Signal(how) })
				if err := cmd.Wait(); (err == nil) != (how == syscall.SIGTERM) {
					t.Errorf("it ends with %v", err)
				}
				parts := recorded(t, file, seen)
				if several := len(parts) > 1; several != (len(of.names) > 1) {
					t.Errorf("%d parts", len(parts))
				}
				text, err := exec.CommandContext(t.Context(), "xdslint", append([]string{"trace"}, parts...)...).CombinedOutput()
				if err != nil || !strings.HasPrefix(string(text), "no findings in ") {
					t.Errorf("%v: %s", err, text)
				}
			})
		}
	}
}

// startRecord runs xdslint record, by another command or by itself, and returns the address at which it listens.
func startRecord(t *testing.T, by []string, args ...string) (cmd *exec.Cmd, addr string) {
	t.Helper()
	all := slices.Concat(by, []string{"xdslint", "record", "--listen", "127.0.0.1:0"}, args)
	cmd = exec.CommandContext(t.Context(), all[0], all[1:]...)
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
	return cmd, strings.TrimSpace(strings.TrimPrefix(line, "recording "))
}

// recorded checks that a recording has what clients have seen, and returns its parts.
func recorded(t *testing.T, file string, seen map[string]int) (parts []string) {
	t.Helper()
	parts, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, part := range parts {
		text, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text[:strings.LastIndexByte(string(text), '\n')+1]) // what is cut is not read
	}
	for nonce, n := range seen {
		if got := strings.Count(all.String(), `,"nonce":"`+nonce+`"`); got < n {
			t.Errorf("%d clients have seen a response with the nonce %s, and %d are in the recording", n, nonce, got)
		}
	}
	return parts
}

// TestRecordFull: if the file cannot be written, record ends, and a client has seen nothing that is not in the file.
func TestRecordFull(t *testing.T) {
	store := reference.NewStore()
	store.Set("shop", &endpointv3.ClusterLoadAssignment{ClusterName: "shop"})
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Stop()
	file := filepath.Join(t.TempDir(), "xds.jsonl")
	limited := []string{"sh", "-c", `ulimit -f 64 && exec "$@"`, "sh"}
	cmd, addr := startRecord(t, limited, "--upstream", server.Address, "--plaintext", "--out", file)
	seen := subscribers(t, addr, []string{"shop"}, 1, func() error { return nil })
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != statusFailed {
		t.Errorf("it ends with %v", err)
	}
	recorded(t, file, seen)
	text, err := exec.CommandContext(t.Context(), "xdslint", "trace", file).CombinedOutput()
	if err != nil || string(text) != "no findings in 1 file\n" {
		t.Errorf("%v: %s", err, text)
	}
}

// TestRecordTLS: certificates on both sides, in both directions.
func TestRecordTLS(t *testing.T) {
	dir := t.TempDir()
	pair := func(name string) (c tls.Certificate, pool *x509.CertPool) {
		certificate, key := envoytest.KeyPair(t, name)
		c, err := tls.X509KeyPair(certificate, key)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".crt"), certificate, 0o600)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name+".key"), key, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		pool = x509.NewCertPool()
		pool.AppendCertsFromPEM(certificate)
		return c, pool
	}
	serverPair, _ := pair("server")
	_, recorderPool := pair("recorder")
	clientPair, _ := pair("client")
	strangerPair, _ := pair("stranger")
	store := reference.NewStore()
	store.Set("shop", &endpointv3.ClusterLoadAssignment{ClusterName: "shop"})
	upstream := secured(t, store, &tls.Config{
		Certificates: []tls.Certificate{serverPair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: recorderPool, NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12,
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	file := at("xds.jsonl")
	_, addr := startRecord(t, nil, "--upstream", upstream, "--out", file,
		"--tls-ca", at("server.crt"), "--tls-server-name", "server", "--tls-cert", at("recorder.crt"), "--tls-key", at("recorder.key"),
		"--listen-tls-cert", at("recorder.crt"), "--listen-tls-key", at("recorder.key"), "--listen-tls-client-ca", at("client.crt"))
	ask := func(pairs ...tls.Certificate) error {
		conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{
			RootCAs: recorderPool, ServerName: "recorder", Certificates: pairs, MinVersion: tls.VersionTLS12,
		})))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		st, err := discoveryv3.NewAggregatedDiscoveryServiceClient(conn).StreamAggregatedResources(t.Context())
		if err != nil {
			return err
		}
		if err := st.Send(&discoveryv3.DiscoveryRequest{Node: &corev3.Node{Id: "edge-1"}, TypeUrl: reference.Endpoints, ResourceNames: []string{"shop"}}); err != nil {
			return err
		}
		_, err = st.Recv()
		return err
	}
	if err := ask(clientPair); err != nil {
		t.Error(err)
	}
	for _, pairs := range [][]tls.Certificate{nil, {strangerPair}} {
		if ask(pairs...) == nil {
			t.Error("a client without a certificate that is signed is accepted")
		}
	}
	recorded(t, file, map[string]int{"1": 1})
}

// secured serves a store with TLS.
func secured(t *testing.T, store *reference.Store, config *tls.Config) (addr string) {
	t.Helper()
	server, err := reference.Serve(store, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go reference.Relay(l, server.Address)
	return l.Addr().String()
}

// subscribers let some clients ask all the time, and stop their proxy in the middle of it. It returns how many clients
// have seen a response with each nonce.
func subscribers(t *testing.T, addr string, names []string, rounds int, stop func() error) (seen map[string]int) {
	t.Helper()
	seen = map[string]int{}
	var mu sync.Mutex
	var clients sync.WaitGroup
	enough := make(chan struct{})
	for range 4 {
		s, err := reference.Subscribe(t.Context(), addr, reference.Endpoints, names...)
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
				if n == rounds {
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
