package pod

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// process is an Envoy with flags of its own, as a container starts it.
type process struct {
	*exec.Cmd
	t       *testing.T
	context context.Context
	admin   string
}

func start(t *testing.T, bootstrap string, flags ...string) *process {
	t.Helper()
	envoytest.Need(t)
	binary, err := envoytest.Newest.Binary()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	dir := t.TempDir()
	config, address := filepath.Join(dir, "envoy.yaml"), filepath.Join(dir, "admin")
	write(t, config, bootstrap)
	flags = append([]string{"-c " + config, "--admin-address-path", address, "--disable-hot-restart", "--concurrency 1", "-l off"}, flags...)
	p := &process{Cmd: exec.CommandContext(ctx, binary, flags...), t: t, context: ctx}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	p.until("it is live", func() bool {
		text, _ := os.ReadFile(address)
		p.admin = string(text)
		return len(text) > 0 && strings.HasPrefix(p.ask(http.MethodGet, "/ready"), "200")
	})
	return p
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// until waits for a condition.
func (p *process) until(what string, holds func() bool) {
	p.t.Helper()
	for !holds() {
		select {
		case <-p.context.Done():
			p.t.Fatalf("waiting until %s: %v", what, p.context.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ask sends a request to the admin interface, and returns the status and the body; empty without an answer.
func (p *process) ask(method, path string) string {
	request, err := http.NewRequestWithContext(p.context, method, "http://"+p.admin+path, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

// listener returns the address of the only listener.
func (p *process) listener() (address string) {
	p.until("it listens", func() bool {
		_, address, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(p.ask(http.MethodGet, "/listeners"), "200 ")), "::")
		return address != ""
	})
	return address
}

const bootstrap = `
admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}
static_resources:
  listeners:
  - name: web
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - filters:
      - name: http
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: web
          http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
          route_config: {virtual_hosts: [{name: all, domains: ["*"], routes: [%s]}]}
  clusters: [%s]
`

// On SIGTERM, Envoy ends at once, and so does the request that it is busy with. Its drain time does not matter.
func TestTermination(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	backend, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Close()
	go func() {
		c, err := backend.Accept()
		if err != nil {
			return
		}
		_, _ = c.Read(make([]byte, 1))
		close(asked)
		_, _ = io.Copy(io.Discard, c) // never answers
	}()
	host, port, _ := strings.Cut(backend.Addr().String(), ":")
	p := start(t, fmt.Sprintf(bootstrap, `{match: {prefix: /}, route: {cluster: slow, timeout: 0s}}`, fmt.Sprintf(
		"{name: slow, load_assignment: {cluster_name: slow, endpoints: [{lb_endpoints: [{endpoint: {address: {socket_address: {address: %s, port_value: %s}}}}]}]}}", host, port)),
		"--drain-time-s 600")
	answer := make(chan error, 1)
	address := p.listener()
	go func() {
		response, err := http.Get("http://" + address)
		if err == nil {
			_ = response.Body.Close()
		}
		answer <- err
	}()
	select {
	case <-asked:
	case <-p.context.Done():
		t.Fatal("the request does not arrive")
	}
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := <-answer; err == nil {
		t.Error("the request gets an answer")
	}
	if err := p.Wait(); err != nil {
		t.Errorf("Envoy ends with %v", err)
	}
	if err := p.context.Err(); err != nil {
		t.Error("Envoy does not end at once")
	}
}

// closing returns how many of some responses ask the client to close the connection.
func (p *process) closing(address string) (n int) {
	p.t.Helper()
	for range 20 {
		response, err := http.Get("http://" + address)
		if err != nil {
			p.t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.Close {
			n++
		}
	}
	return n
}

// A graceful drain asks the more clients to close their connections the more of the drain time has passed; all of them with --drain-strategy
// immediate, and after /healthcheck/fail. A GET does nothing.
func TestGracefulDrain(t *testing.T) {
	t.Parallel()
	direct := fmt.Sprintf(bootstrap, `{match: {prefix: /}, direct_response: {status: 200}}`, "")
	for _, c := range []struct {
		strategy, page string
		all            bool
	}{
		{"gradual", "/drain_listeners?graceful", false},
		{"immediate", "/drain_listeners?graceful", true},
		{"gradual", "/healthcheck/fail", true},
	} {
		p := start(t, direct, "--drain-time-s 100000", "--drain-strategy", c.strategy)
		address := p.listener()
		if got := p.ask(http.MethodGet, c.page); !strings.HasPrefix(got, "405") {
			t.Errorf("a GET of %s is answered with %s", c.page, got)
		}
		if n := p.closing(address); n != 0 {
			t.Errorf("%d of 20 connections end before %s", n, c.page)
		}
		if got := p.ask(http.MethodPost, c.page); !strings.HasPrefix(got, "200") {
			t.Errorf("a POST of %s is answered with %s", c.page, got)
		}
		if n := p.closing(address); (n == 20) != c.all {
			t.Errorf("%s, %s: %d of 20 connections end", c.strategy, c.page, n)
		}
	}
}

// A kubelet puts the files of a ConfigMap into a folder, and a link to each next to it. An update replaces the link to the folder.
func TestConfigMap(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		watched string // relative to the mount
		file    string
		seen    bool
	}{
		"not watched":        {"", "cds.yaml", false},
		"watched":            {"/", "cds.yaml", true},
		"below, not watched": {"", "sub/cds.yaml", false},
		"below, its folder":  {"/sub", "sub/cds.yaml", false},
		"below, the mount":   {"/", "sub/cds.yaml", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mount := t.TempDir()
			update(t, mount, "1", c.file, "before")
			watched := ""
			if c.watched != "" {
				watched = fmt.Sprintf(", watched_directory: {path: %q}", mount+c.watched)
			}
			p := start(t, fmt.Sprintf("admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}\n"+
				"node: {id: a, cluster: a}\ndynamic_resources: {cds_config: {path_config_source: {path: %q%s}}}\n", filepath.Join(mount, c.file), watched))
			first, err := filepath.EvalSymlinks(filepath.Dir(filepath.Join(mount, c.file))) // which Envoy watches by itself
			if err != nil {
				t.Fatal(err)
			}
			clusters := func() string { return p.ask(http.MethodGet, "/clusters") }
			p.until("there is a cluster", func() bool { return strings.Contains(clusters(), "before") })
			update(t, mount, "2", c.file, "after")
			if c.seen {
				p.until("the update is there", func() bool { return strings.Contains(clusters(), "after") })
				return
			}
			clusters() // Envoy handles what has changed before it answers
			write(t, filepath.Join(mount, c.file), clusterNamed("control"))
			replace(t, filepath.Join(first, "new"), filepath.Join(first, filepath.Base(c.file)))
			p.until("the file that is replaced itself is there", func() bool { return strings.Contains(clusters(), "control") })
			if got := p.ask(http.MethodGet, "/stats?filter=cds.update_attempt"); !strings.HasSuffix(strings.TrimSpace(got), ": 2") {
				t.Errorf("Envoy sees the update: %s", got)
			}
		})
	}
}

func clusterNamed(name string) string {
	return fmt.Sprintf(`{resources: [{"@type": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: %s}]}`, name)
}

// replace puts a copy of the file at a path in place of it.
func replace(t *testing.T, copied, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	write(t, copied, string(text))
	if err := os.Rename(copied, path); err != nil {
		t.Fatal(err)
	}
}

// update does what the kubelet does.
func update(t *testing.T, mount, version, file, cluster string) {
	t.Helper()
	folder := filepath.Join(mount, "..version-"+version)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(folder, file)), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, file), clusterNamed(cluster))
	link(t, filepath.Base(folder), filepath.Join(mount, "..data_tmp"))
	if err := os.Rename(filepath.Join(mount, "..data_tmp"), filepath.Join(mount, "..data")); err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(file, "/")
	if _, err := os.Lstat(filepath.Join(mount, first)); err != nil {
		link(t, filepath.Join("..data", first), filepath.Join(mount, first))
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
}
