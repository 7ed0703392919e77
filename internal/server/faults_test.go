package server

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/rules"
)

// A client that never ends its header, or its body, is disconnected, and does not delay other clients.
func TestSlowClients(t *testing.T) {
	for name, begin := range map[string]string{
		"header": "POST /v1/lint HTTP/1.1\r\nHost: x\r\nX-Slow: ",
		"body":   "POST /v1/lint HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nx",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := run(t, Options{MaxConcurrent: 1})
				slow, err := r.pipes.dial(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer slow.Close()
				go func() {
					_, err := io.WriteString(slow, begin)
					for err == nil {
						time.Sleep(time.Second)
						_, err = io.WriteString(slow, "x")
					}
				}()
				answer := make(chan []byte)
				go func() {
					text, _ := io.ReadAll(slow) // until the server hangs up
					answer <- text
				}()
				synctest.Wait()
				if got := r.status(t, "POST", "/v1/lint", strings.NewReader("{}")); got != http.StatusOK {
					t.Errorf("another client gets status %d", got)
				}
				if held := gauge(t, r.metrics.held); held > 8<<10 {
					t.Errorf("%v bytes are held for a client that has sent next to nothing", held)
				}
				began := time.Now()
				text := string(<-answer)
				if waited := time.Since(began); waited > DefaultTimeout+time.Second {
					t.Errorf("the server hangs up after %s", waited)
				}
				if name == "body" && !strings.HasPrefix(text, "HTTP/1.1 408 ") {
					t.Errorf("it says %q", text)
				}
			})
		})
	}
}

// TestClientLeavesMidBody: a client that disconnects while it sends its body leaves no memory or slot in use.
func TestClientLeavesMidBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{Linter: fake{lint: func(context.Context, map[string][]byte) (*xdslint.Report, error) {
			panic("half a body is judged")
		}}})
		for _, head := range []string{
			"Content-Length: 1000\r\n\r\n",
			"Transfer-Encoding: chunked\r\n\r\n3e8\r\n",
			"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n",
		} {
			c, err := r.pipes.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(c, "POST /v1/lint HTTP/1.1\r\nHost: x\r\n"+head+"half"); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if gauge(t, r.metrics.held) == 0 {
				t.Error("the body was not read")
			}
			_ = c.Close()
			synctest.Wait()
			if held := gauge(t, r.metrics.held); held != 0 {
				t.Errorf("%v bytes are still held", held)
			}
		}
	})
}

// A client that disconnects while its request is judged ends that work.
func TestClientLeavesWhileJudged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		r := run(t, Options{Log: log.logger(), Linter: fake{lint: func(ctx context.Context, _ map[string][]byte) (*xdslint.Report, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}})
		ctx, leave := context.WithCancel(t.Context())
		go func() {
			request := r.request(t, "POST", "/v1/lint", "", strings.NewReader("{}"))
			if response, err := r.client.Do(request.WithContext(ctx)); err == nil {
				_ = response.Body.Close()
			}
		}()
		synctest.Wait()
		leave()
		synctest.Wait()
		if held := gauge(t, r.metrics.held); held != 0 {
			t.Errorf("%v bytes are held", held)
		}
		if !strings.Contains(log.String(), "status=499") {
			t.Errorf("the log says %s", &log.text)
		}
	})
}

// TestHalfClosed: a client that closes its half of the connection while it is judged gets no status: the status of an
// answer without a body would be 200.
func TestHalfClosed(t *testing.T) {
	judge := func(ctx context.Context, _ map[string][]byte) (*xdslint.Report, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	server := httptest.NewServer(made(t, Options{Linter: fake{lint: judge}}))
	defer server.Close()
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST /v1/lint HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if answer, _ := io.ReadAll(c); len(answer) > 0 {
		t.Errorf("the answer is %q", answer)
	}
}

// TestLateReview: an object that cannot be judged in the time that the API server gives is let in, with a warning, before
// that time is over.
func TestLateReview(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, judge := range map[string]func(context.Context) error{
			"ends":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
			"stuck": func(context.Context) error { time.Sleep(time.Minute); return nil },
		} {
			r := run(t, Options{Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
				if err := judge(ctx); err != nil {
					return nil, err
				}
				return nothing(ctx, texts)
			}}})
			body := `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u-1", "operation": "CREATE", "object": {"kind": "x"}}}`
			began := time.Now()
			response, err := r.client.Do(r.request(t, "POST", "/k8s/validate?timeout=5s", "application/json", strings.NewReader(body)))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took != 4*time.Second {
				t.Errorf("%s: it took %s", name, took)
			}
			for _, want := range []string{`"uid":"u-1"`, `"allowed":true`, "this object was not checked: not judged within 4s"} {
				if response.StatusCode != http.StatusOK || !strings.Contains(string(answer), want) {
					t.Errorf("%s: %s: %s", name, response.Status, answer)
				}
			}
			time.Sleep(time.Minute)
		}
	})
}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// talkative has a large answer as SARIF, which describes the rules.
var talkative = fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
	empty, err := nothing(ctx, texts)
	empty.Rules = rules.Builtin()[:200]
	return empty, err
}}

// unread asks for a large answer, and does not read it.
func (r *running) unread(t *testing.T) {
	c, err := r.pipes.dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if _, err := io.WriteString(c, "POST /v1/lint?format=sarif HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}"); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// A client that does not read its answer is disconnected, and what it holds is free again.
func TestSlowReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{Linter: talkative})
		r.unread(t)
		if gauge(t, r.metrics.held) == 0 {
			t.Error("the answer is not counted")
		}
		time.Sleep(r.budget.patience() + time.Second)
		synctest.Wait()
		if held := gauge(t, r.metrics.held); held != 0 {
			t.Errorf("%v bytes are held", held)
		}
	})
}

// Clients that do not read their answers cannot hold more than half of the memory for long.
func TestManySlowReaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{Linter: talkative, MaxBody: 1000})
		half := float64(r.budget.size / 2)
		for range 50 {
			r.unread(t)
		}
		if held := gauge(t, r.metrics.held); held < half {
			t.Fatalf("only %v bytes are held", held)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if held := gauge(t, r.metrics.held); held > half || held == 0 {
			t.Errorf("%v bytes are held of %d", held, r.budget.size)
		}
	})
}

// TestWaitsTooLong: a request that has waited for half of its time is rejected and may be sent again later, since the work might not end in the other
// half.
func TestWaitsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{MaxConcurrent: 1, Linter: fake{lint: func(ctx context.Context, _ map[string][]byte) (*xdslint.Report, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}})
		first := make(chan int)
		go func() { first <- r.status(t, "POST", "/v1/lint", strings.NewReader("{}")) }()
		synctest.Wait()
		began := time.Now()
		if got := r.status(t, "POST", "/v1/lint", strings.NewReader("{}")); got != http.StatusTooManyRequests {
			t.Errorf("status %d", got)
		}
		if waited := time.Since(began); waited != DefaultTimeout/2 {
			t.Errorf("it waited for %s", waited)
		}
		if got := <-first; got != http.StatusServiceUnavailable {
			t.Errorf("the one that was judged gets status %d", got)
		}
	})
}

// TestLate: a request whose work takes too long is answered in time. The work keeps its slot until it ends.
func TestLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := run(t, Options{MaxConcurrent: 1, Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
			<-release
			return nothing(ctx, texts)
		}}})
		began := time.Now()
		if got := r.status(t, "POST", "/v1/lint", strings.NewReader("{}")); got != http.StatusServiceUnavailable {
			t.Errorf("status %d", got)
		}
		if took := time.Since(began); took != DefaultTimeout {
			t.Errorf("answered after %s", took)
		}
		if held := gauge(t, r.metrics.held); held == 0 {
			t.Error("memory that is in use counts as free")
		}
		if r.slots.running.TryAcquire(1) {
			t.Error("a slot that is in use counts as free")
		}
		close(release)
		if got := r.status(t, "POST", "/v1/lint", strings.NewReader("{}")); got != http.StatusOK {
			t.Errorf("the next one gets status %d", got)
		}
	})
}

// A panic is answered, logged without its value, and does not affect other requests.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logged
		fail := true
		r := run(t, Options{Log: log.logger(), MaxConcurrent: 1, Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
			if fail {
				panic(fmt.Sprintf("what is %s?", texts["body"]))
			}
			return nothing(ctx, texts)
		}}})
		if got := r.status(t, "POST", "/v1/lint", strings.NewReader("hunter2")); got != http.StatusInternalServerError {
			t.Errorf("status %d", got)
		}
		if text := log.String(); strings.Contains(text, "hunter2") || !strings.Contains(text, "faults_test.go") {
			t.Errorf("the log says %s", text)
		}
		fail = false
		if got := r.status(t, "POST", "/v1/lint", strings.NewReader("{}")); got != http.StatusOK {
			t.Errorf("the next one gets status %d", got)
		}
	})
}

// TestStop: a server that shuts down reports it, answers requests for a moment longer, and finishes every accepted request.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := run(t, Options{Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
			<-release
			return nothing(ctx, texts)
		}}})
		if got := r.status(t, "GET", "/readyz", nil); got != http.StatusOK {
			t.Errorf("/readyz has status %d at first", got)
		}
		early := make(chan int)
		go func() { early <- r.status(t, "POST", "/v1/lint", strings.NewReader("{}")) }()
		synctest.Wait()
		r.stop()
		synctest.Wait()

		response, err := r.client.Do(r.request(t, "GET", "/readyz", "", nil))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable || !response.Close {
			t.Errorf("/readyz says %s, close %t", response.Status, response.Close)
		}
		late := make(chan int)
		go func() { late <- r.status(t, "POST", "/v1/lint", strings.NewReader("{}")) }()
		synctest.Wait()
		time.Sleep(2 * farewell)
		if got := r.status(t, "GET", "/healthz", nil); got != 0 {
			t.Errorf("a connection after the end gets status %d", got)
		}
		select {
		case err := <-r.ended:
			t.Fatalf("it ends before its requests do: %v", err)
		default:
		}
		close(release)
		for _, answered := range []chan int{early, late} {
			if got := <-answered; got != http.StatusOK {
				t.Errorf("a request that was taken gets status %d", got)
			}
		}
	})
}
