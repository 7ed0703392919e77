package envoytest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// poll is the interval in which the state of Envoy is checked.
const poll = 20 * time.Millisecond

// DrainTime is the time for which connections of a removed or changed listener stay open. Envoy's default of 600 s is
// too long for tests.
const DrainTime = 2 * time.Second

// Envoy is a running Envoy. The system chooses the port of its admin interface, whatever the bootstrap says.
type Envoy struct {
	admin string
	dir   string
	log   logBuffer
	stop  context.CancelFunc
	ended chan struct{} // closed when the process has ended
	exit  error         // valid once ended is closed
}

// ErrEnded is returned if Envoy ended unexpectedly.
var ErrEnded = errors.New("Envoy ended") //nolint:staticcheck // a name

// Serve runs an Envoy on a bootstrap until Close, and returns once it is live. ext is as for ValidateText. Give
// listeners port_value 0, and ask Addr for their addresses.
func Serve(ctx context.Context, bootstrap, ext string) (*Envoy, error) {
	return Newest.Serve(ctx, bootstrap, ext)
}

// Serve is like the function Serve, with this version.
func (v Version) Serve(ctx context.Context, bootstrap, ext string) (*Envoy, error) {
	return v.ServeAdmin(ctx, loopback, bootstrap, ext)
}

const loopback = "127.0.0.1"

// ServeAdmin is like Serve, with the admin interface at an IP address of the machine.
func (v Version) ServeAdmin(ctx context.Context, ip, bootstrap, ext string) (*Envoy, error) {
	return v.serve(ctx, ip, bootstrap, ext, nodeFlags)
}

// ServeWithoutNode is like Serve, but nothing on the command line says which node it is.
func (v Version) ServeWithoutNode(ctx context.Context, bootstrap, ext string) (*Envoy, error) {
	return v.serve(ctx, loopback, bootstrap, ext, nil)
}

func (v Version) serve(ctx context.Context, ip, bootstrap, ext string, node []string) (*Envoy, error) {
	e, err := launch(ctx, v, ip, bootstrap, ext, node)
	if err != nil {
		return nil, err
	}
	err = e.wait(ctx, "become live", func() bool {
		_, err := e.Admin(ctx, "/ready")
		return err == nil
	})
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// launch starts Envoy and waits until its admin port answers.
func launch(ctx context.Context, v Version, adminIP, bootstrap, ext string, node []string) (*Envoy, error) {
	binary, err := v.Binary()
	if err != nil {
		return nil, err
	}
	release, err := acquire(ctx)
	if err != nil {
		return nil, err
	}
	defer release()

	dir, err := os.MkdirTemp("", "envoytest-")
	if err != nil {
		return nil, err
	}
	config, address := filepath.Join(dir, "config"+ext), filepath.Join(dir, "admin")
	if err := os.WriteFile(config, []byte(bootstrap), 0o600); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	// Without hot restart several Envoys need no base id of their own; the overlay wins over the bootstrap's admin.
	running, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(running, binary, append([]string{
		"-c", config, "--config-yaml", fmt.Sprintf("admin: {address: {socket_address: {address: %q, port_value: 0}}}", adminIP),
		"--admin-address-path", address, "--disable-hot-restart", "--concurrency", "1",
		"--drain-time-s", strconv.Itoa(int(DrainTime.Seconds())),
		"--file-flush-interval-msec", "100", "-l", "warning",
	}, node...)...)
	e := &Envoy{dir: dir, stop: stop, ended: make(chan struct{})}
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &e.log, &e.log
	if err := cmd.Start(); err != nil {
		stop()
		return nil, errors.Join(fmt.Errorf("starting Envoy: %w", err), os.RemoveAll(dir))
	}
	go func() {
		e.exit = cmd.Wait()
		close(e.ended)
	}()
	err = e.wait(ctx, "open its admin port", func() bool {
		text, err := os.ReadFile(address)
		e.admin = string(text)
		return err == nil && len(text) > 0
	})
	if err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Close kills Envoy and waits until it has ended.
func (e *Envoy) Close() {
	e.stop()
	<-e.ended
	_ = os.RemoveAll(e.dir)
}

// Log returns what Envoy has written: its warnings, and access logs that go to stdout or stderr, with a delay of up to
// 100 ms.
func (e *Envoy) Log() string { return e.log.String() }

// Crashed reports whether Envoy ended by itself.
func (e *Envoy) Crashed() bool {
	select {
	case <-e.ended:
		var exit *exec.ExitError
		return errors.As(e.exit, &exit) && crashed(exit)
	default:
		return false
	}
}

// AdminAddress returns the host:port of the admin interface.
func (e *Envoy) AdminAddress() string { return e.admin }

// Admin returns a page of the admin interface, such as /config_dump. A status other than 200 is an error.
func (e *Envoy) Admin(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+e.admin+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("admin %s: %s: %s", path, response.Status, body)
	}
	return body, err
}

// Addr waits until the listener of that name accepts connections and returns its host:port.
func (e *Envoy) Addr(ctx context.Context, listener string) (string, error) {
	var addr string
	err := e.wait(ctx, "open listener "+listener, func() bool {
		body, err := e.Admin(ctx, "/listeners?format=json")
		if err != nil {
			return false
		}
		var page struct {
			Listeners []struct {
				Name    string `json:"name"`
				Address struct {
					Socket struct {
						Address string `json:"address"`
						Port    int    `json:"port_value"`
					} `json:"socket_address"`
				} `json:"local_address"`
			} `json:"listener_statuses"`
		}
		if json.Unmarshal(body, &page) != nil {
			return false
		}
		for _, l := range page.Listeners {
			if l.Name == listener {
				addr = net.JoinHostPort(l.Address.Socket.Address, strconv.Itoa(l.Address.Socket.Port))
				return l.Address.Socket.Port != 0
			}
		}
		return false
	})
	return addr, err
}

// wait polls until done; it gives up when Envoy ends or the context does.
func (e *Envoy) wait(ctx context.Context, what string, done func() bool) error {
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-e.ended:
			return fmt.Errorf("envoytest: %w before it could %s (%w): %s", ErrEnded, what, e.exit, firstError(e.Log()))
		case <-ctx.Done():
			return fmt.Errorf("envoytest: Envoy did not %s (%w): %s", what, ctx.Err(), firstError(e.Log()))
		}
	}
	return nil
}

// logBuffer is a bytes.Buffer for a process that writes while tests read.
type logBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}
