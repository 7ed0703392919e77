//go:build kubernetes

// Package kubetest tries the webhook and the manifests of deploy/ with a real API server. `make test-kubernetes` builds it, and runs this.
package kubetest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// tools is where `make test-kubernetes` puts what is needed here.
const tools = "../../.tools"

// patience is for what takes seconds on an idle machine.
const patience = 5 * time.Minute

// cluster is an API server and its etcd, without controllers and nodes.
type cluster struct{ kubeconfig string }

func startCluster(t *testing.T) *cluster {
	t.Helper()
	dir := t.TempDir()
	etcd, peer, server := freePort(t), freePort(t), freePort(t)
	start(t, dir, "etcd",
		"--data-dir", filepath.Join(dir, "etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", local("http", etcd), "--advertise-client-urls", local("http", etcd),
		"--listen-peer-urls", local("http", peer), "--initial-advertise-peer-urls", local("http", peer),
		"--initial-cluster", "default="+local("http", peer))

	key := write(t, dir, "service-account.key", serviceAccountKey(t))
	start(t, dir, "kube-apiserver",
		"--etcd-servers", local("http", etcd), "--cert-dir", filepath.Join(dir, "certs"),
		"--bind-address", "127.0.0.1", "--secure-port", fmt.Sprint(server), "--service-cluster-ip-range", "10.0.0.0/24",
		"--authorization-mode", "AlwaysAllow", "--token-auth-file", write(t, dir, "tokens.csv", []byte("test,admin,1\n")),
		"--disable-admission-plugins", "ServiceAccount", // whose controller is not here
		"--service-account-issuer", "https://localhost", "--service-account-key-file", key, "--service-account-signing-key-file", key,
		// The webhook's Service is reached by its EndpointSlice: without kube-proxy, nothing routes cluster IPs.
		"--enable-aggregator-routing")
	c := &cluster{write(t, dir, "kubeconfig", fmt.Appendf(nil, `{apiVersion: v1, kind: Config, current-context: test,
clusters: [{name: test, cluster: {server: %q, insecure-skip-tls-verify: true}}],
users: [{name: admin, user: {token: test}}],
contexts: [{name: test, context: {cluster: test, user: admin}}]}`, local("https", server)))}
	eventually(t, "the API server is ready", func() error {
		_, stderr, err := c.kubectl(t, "", "get", "--raw", "/readyz")
		if err != nil {
			return fmt.Errorf("%w: %s", err, stderr)
		}
		return nil
	})
	return c
}

// kubectl runs a command with a text as its standard input.
func (c *cluster) kubectl(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(tools, "bin", "kubectl"), append([]string{"--kubeconfig", c.kubeconfig}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	err = cmd.Run()
	return out.String(), errs.String(), err
}

// must is a command that succeeds.
func (c *cluster) must(t *testing.T, stdin string, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, err := c.kubectl(t, stdin, args...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(args, " "), err, stdout, stderr)
	}
	return stdout, stderr
}

// process is a program that runs until the test ends, or stop.
type process struct {
	cmd *exec.Cmd
	log *os.File
}

// start runs a program of .tools/bin, or one whose path is given.
func start(t *testing.T, dir, program string, args ...string) *process {
	t.Helper()
	path := program
	if !filepath.IsAbs(path) {
		path = filepath.Join(tools, "bin", program)
	}
	log, err := os.Create(filepath.Join(dir, filepath.Base(program)+".log"))
	if err != nil {
		t.Fatal(err)
	}
	p := &process{exec.Command(path, args...), log}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		t.Fatalf("%v; make test-kubernetes installs it", err)
	}
	t.Cleanup(func() {
		p.stop()
		if t.Failed() {
			text, _ := os.ReadFile(log.Name())
			t.Logf("the last of %s:\n%s", filepath.Base(program), text[max(0, len(text)-2000):])
		}
	})
	return p
}

// stop kills: nothing of what it knows will be asked again.
func (p *process) stop() {
	if p.cmd.ProcessState != nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended by itself
	_ = p.cmd.Wait()         // which says that it was killed
	_ = p.log.Close()        // nothing is written any more
}

func eventually(t *testing.T, what string, try func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := try()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("waiting until %s: %v", what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port
}

func local(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }

func write(t *testing.T, dir, name string, text []byte) (path string) {
	t.Helper()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func serviceAccountKey(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
}
