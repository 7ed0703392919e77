package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// served is a process that serves.
type served struct {
	*exec.Cmd
	url string
	log bytes.Buffer // to be read when the process has ended
}

// startServe runs `xdslint serve` in a folder.
func startServe(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	s := &served{Cmd: exec.CommandContext(t.Context(), "xdslint", append([]string{"serve", "--listen", "localhost:0"}, args...)...)}
	s.Dir, s.Stderr = dir, &s.log
	out, err := s.StdoutPipe()
	if err == nil {
		err = s.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = s.Wait()
		t.Fatalf("%v: %s", err, &s.log)
	}
	s.url = strings.TrimSpace(strings.TrimPrefix(line, "serving "))
	return s
}

// stop ends it as Kubernetes does.
func (s *served) stop(t *testing.T) {
	t.Helper()
	if err := s.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := s.Wait(); err != nil {
		t.Errorf("%v: %s", err, &s.log)
	}
}

func (s *served) post(t *testing.T, path, contentType string, body io.Reader) string {
	t.Helper()
	response, err := http.Post(s.url+path, contentType, body)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s %v", path, response.Status, text, err)
	}
	return string(text)
}

// files puts files of this machine into a form, by field.
func files(t *testing.T, fields map[string]string, dir string) (contentType string, body io.Reader) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	for name, field := range fields {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		part, err := w.CreateFormFile(field, strings.TrimPrefix(name, field+"/"))
		if err == nil {
			_, err = part.Write(raw)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return w.FormDataContentType(), &out
}

// cli is what the command line prints in a folder.
func cli(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "xdslint", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != statusFindings) {
		t.Fatal(err)
	}
	return string(out)
}

const bootstrapYAML = `static_resources:
  listeners:
  - name: ingress
    address: {socket_address: {address: 127.0.0.1, port_value: 10000}}
    filter_chains:
    - filters:
      - name: tcp
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: tcp
          cluster: absent
      - name: tcp # xdslint:ignore=listener -- a suppression
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: ""
          cluster: backend-1
dynamic_resources:
  cds_config: {path_config_source: {path: clusters.yaml}}
`

// ownerRule is a custom rule.
const ownerRule = `constraints:
- id: acme/owner
  message: envoy.config.listener.v3.Listener
  expression: "'owner' in this.metadata.filter_metadata ? '' : 'nobody owns ' + this.name"
`

// Over HTTP the findings are those of the command line, with the configuration of the server.
func TestServeLints(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		".xdslint.yaml": "severities: {reference: info}\nassume: [\"cluster:backend-*\"]\n" + ownerRule,
		"envoy.yaml":    bootstrapYAML,
		"clusters.yaml": "resources: []\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := startServe(t, dir, "--ignore", "bootstrap")
	defer s.stop(t)
	for _, format := range []string{"json", "sarif"} {
		contentType, body := files(t, map[string]string{"envoy.yaml": "file", "clusters.yaml": "file"}, dir)
		got := s.post(t, "/v1/lint?format="+format, contentType, body)
		want := cli(t, dir, "--ignore", "bootstrap", "--format", format, "envoy.yaml", "clusters.yaml")
		if diff := cmp.Diff(want, got); diff != "" || !strings.Contains(got, "reference/") || !strings.Contains(got, "nobody owns") {
			t.Errorf("%s differs (-command line +server):\n%s", format, diff)
		}
	}
}

// A request never sees a file of the server, whatever its bootstrap names.
func TestServeReadsNoFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "clusters.yaml"), []byte("secret: 'hunter2'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, dir)
	defer s.stop(t)
	for _, path := range []string{"clusters.yaml", filepath.Join(dir, "clusters.yaml"), "/etc/passwd", "../clusters.yaml", "/proc/self/environ"} {
		for _, name := range []string{"envoy.yaml", "./envoy.yaml", filepath.Join(dir, "envoy.yaml")} {
			text := strings.ReplaceAll(bootstrapYAML, "clusters.yaml", path)
			got := s.post(t, "/v1/lint?filename="+url.QueryEscape(name), "", strings.NewReader(text))
			var report struct {
				Diagnostics []struct {
					Location struct{ File string }
					Message  string
				}
				Summary struct{ Files, Skipped int }
			}
			if err := json.Unmarshal([]byte(got), &report); err != nil {
				t.Fatal(err)
			}
			if report.Summary.Files != 1 || report.Summary.Skipped != 0 || strings.Contains(got, "hunter2") {
				t.Errorf("%s in %s: something was read: %s", path, name, got)
			}
			for _, d := range report.Diagnostics {
				if d.Location.File != name || strings.Contains(d.Message, path) {
					t.Errorf("%s in %s: a finding about the file: %+v", path, name, d)
				}
			}
		}
	}
}

// TestServePlans: a plan over HTTP is the same as on the command line. For a broken snapshot it says why there is none.
func TestServePlans(t *testing.T) {
	dir, err := filepath.Abs("../../testdata/transitions/route-to-health-checked-cluster")
	if err != nil {
		t.Fatal(err)
	}
	s := startServe(t, dir, "--no-config")
	defer s.stop(t)
	sides := map[string]string{}
	for _, side := range []string{"old", "new"} {
		names, err := filepath.Glob(filepath.Join(dir, side, "*.yaml"))
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			sides[side+"/"+filepath.Base(name)] = side
		}
	}
	contentType, body := files(t, sides, dir)
	got := s.post(t, "/v1/plan?transport=ads-delta", contentType, body)
	if diff := cmp.Diff(cli(t, dir, "plan", "--no-config", "--format", "json", "--transport", "ads-delta", "old", "new"), got); diff != "" {
		t.Errorf("the plan differs (-command line +server):\n%s", diff)
	}

	contentType, body = files(t, map[string]string{"old/clusters.yaml": "old", "new/routes.yaml": "new"}, dir)
	var plan struct {
		Broken []struct{ Rule string }
		Phases []any
	}
	if err := json.Unmarshal([]byte(s.post(t, "/v1/plan", contentType, body)), &plan); err != nil {
		t.Fatal(err)
	}
	if len(plan.Broken) == 0 || len(plan.Phases) > 0 {
		t.Errorf("to what is broken: %+v", plan)
	}
}

// An AdmissionReview is answered.
func TestServeReviews(t *testing.T) {
	s := startServe(t, t.TempDir())
	defer s.stop(t)
	const review = `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u-1", "operation": "CREATE",
		"kind": {"version": "v1", "kind": "ConfigMap"}, "namespace": "shop", "name": "edge",
		"object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "edge", "namespace": "shop"}, "data": {"a": "b"}}}}`
	got := s.post(t, "/k8s/validate", "application/json", strings.NewReader(review))
	if !strings.Contains(got, `"uid":"u-1"`) || !strings.Contains(got, `"allowed":true`) {
		t.Error(got)
	}
}

// TestServeReviewsByCustomRules: custom rules deny objects that the built-in rules allow.
func TestServeReviewsByCustomRules(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ".xdslint.yaml"), []byte(ownerRule), 0o600); err != nil {
		t.Fatal(err)
	}
	s := startServe(t, dir)
	defer s.stop(t)
	const review = `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u-1", "operation": "CREATE",
		"kind": {"version": "v1", "kind": "ConfigMap"}, "namespace": "shop", "name": "edge",
		"object": {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "edge", "namespace": "shop", "labels": {"xdslint.dev/check": "true"}},
		"data": {"envoy.yaml": "static_resources: {listeners: [{name: web, address: {pipe: {path: /run/web}}}]}"}}}}`
	got := s.post(t, "/k8s/validate", "application/json", strings.NewReader(review))
	if !strings.Contains(got, `"allowed":false`) || !strings.Contains(got, "nobody owns web") {
		t.Error(got)
	}
}

// SIGTERM under load: what the server has taken, it answers, and then it ends with status 0.
func TestServeStopsUnderLoad(t *testing.T) {
	s := startServe(t, t.TempDir(), "--max-concurrent", "1")
	var answered atomic.Int64
	var clients sync.WaitGroup
	warm := make(chan struct{})
	for i := range 16 {
		clients.Go(func() {
			transport := &http.Transport{DisableKeepAlives: i%2 == 0} // old connections, and new ones
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport}
			for {
				response, err := client.Post(s.url+"/v1/lint", "", strings.NewReader(bootstrapYAML))
				if err != nil {
					return // it has stopped; its log shows whether this request was accepted
				}
				_, err = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if err != nil || response.StatusCode != http.StatusOK && response.StatusCode != http.StatusTooManyRequests {
					t.Errorf("%s, %v", response.Status, err)
				}
				if answered.Add(1) == 100 {
					close(warm)
				}
			}
		})
	}
	<-warm
	s.stop(t)
	clients.Wait()
	if taken := strings.Count(s.log.String(), "path=/v1/lint"); int64(taken) != answered.Load() {
		t.Errorf("%d requests were taken, and %d answered", taken, answered.Load())
	}
}

// A second signal ends it at once, though a request is on its way.
func TestServeSecondSignal(t *testing.T) {
	s := startServe(t, t.TempDir(), "--timeout", "10m")
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := fmt.Fprintf(c, "POST /v1/lint HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(c).ReadString('\n'); err != nil { // it waits for the body
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Wait() }()
	for {
		if err := s.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		response, err := http.Get(s.url + "/readyz")
		if err != nil {
			break
		}
		_ = response.Body.Close()
	}
	err = <-ended
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
		t.Errorf("it ends with %v", err)
	}
}
