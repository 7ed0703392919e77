package server

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/xdslint/xdslint"
)

// TestOversized: a request that is too large is rejected as soon as that is known.
func TestOversized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{MaxBody: 1000})
		for body, want := range map[io.Reader]int{
			strings.NewReader(strings.Repeat("x", 1000)):                http.StatusOK,
			strings.NewReader(strings.Repeat("x", 1001)):                http.StatusRequestEntityTooLarge, // announced
			io.LimitReader(endless{}, 1000):                             http.StatusOK,                    // in chunks
			io.LimitReader(endless{}, 1001):                             http.StatusRequestEntityTooLarge,
			io.MultiReader(strings.NewReader("x"), endless{}):           http.StatusRequestEntityTooLarge,
			io.MultiReader(strings.NewReader(""), bytes.NewReader(nil)): http.StatusBadRequest,
		} {
			if got := r.status(t, "POST", "/v1/lint", body); got != want {
				t.Errorf("status %d, want %d", got, want)
			}
		}
	})
}

type endless struct{}

// TestTooManyRequests: all requests that are judged or wait get their answer. Requests beyond that are rejected and may be sent again later.
func TestTooManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := run(t, Options{MaxConcurrent: 2, Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
			<-release
			return nothing(ctx, texts)
		}}})
		const accepted = 2 + 2*queuePerSlot
		statuses := make(chan int, accepted)
		for range accepted {
			go func() { statuses <- r.status(t, "POST", "/v1/lint", strings.NewReader("{}")) }()
		}
		synctest.Wait()
		response, err := r.client.Do(r.request(t, "POST", "/v1/lint", "", strings.NewReader("{}")))
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusTooManyRequests || response.Header.Get("Retry-After") == "" {
			t.Errorf("one too many gets %s, Retry-After %q", response.Status, response.Header.Get("Retry-After"))
		}
		if got := r.status(t, "GET", "/healthz", nil); got != http.StatusOK {
			t.Errorf("a probe gets status %d", got)
		}
		close(release)
		for range accepted {
			if got := <-statuses; got != http.StatusOK {
				t.Errorf("one that waited gets status %d", got)
			}
		}
		if got := gauge(t, r.metrics.refused); got != 1 {
			t.Errorf("%v refusals are counted, want 1", got)
		}
	})
}

// TestMemoryBudget: bodies never take more memory than the budget. A request that does not fit is rejected and may be sent again later.
func TestMemoryBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Options{MaxBody: 1 << 20})
		begin := func() *bufio.Reader {
			c, err := r.pipes.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			go func() { // all but the last byte
				fmt.Fprintf(c, "POST /v1/lint HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", 1<<20, strings.Repeat("x", 1<<20-1))
			}()
			return bufio.NewReader(c)
		}
		for range bodiesInFlight - 1 {
			begin()
			synctest.Wait() // while it grows, a body is there twice
		}
		if held := gauge(t, r.metrics.held); held > float64(r.budget.size) || held < 3<<20 {
			t.Errorf("%v bytes are held, of %d", held, r.budget.size)
		}
		// The last part of the budget is not enough for a body that grows in steps.
		line, err := begin().ReadString('\n')
		if err != nil || !strings.HasPrefix(line, "HTTP/1.1 429 ") {
			t.Errorf("one too many gets %q, %v", line, err)
		}
		if got := r.status(t, "POST", "/v1/lint", strings.NewReader("{}")); got != http.StatusOK {
			t.Errorf("a small one gets status %d", got)
		}
	})
}

// TestPartHeadersAreCharged: the header of a part takes memory even before it is complete.
func TestPartHeadersAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 1 << 20
		r := run(t, Options{MaxBody: 2 * size})
		for range 3 {
			c, err := r.pipes.dial(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = c.Close() })
			go fmt.Fprintf(c, "POST /v1/lint HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n--b\r\nX: %s",
				2*size, strings.Repeat("x", size))
		}
		synctest.Wait()
		if held := gauge(t, r.metrics.held); held < 3*size {
			t.Errorf("%v bytes are held", held)
		}
	})
}

// TestLargeAnswer: a small body can have an answer that is larger than the budget. Its client gets an error, and other clients are not affected.
func TestLargeAnswer(t *testing.T) {
	r := run(t, Options{MaxBody: 1 << 20, Timeout: 10 * time.Minute, Linter: linter()})
	body := "static_resources: {clusters: [" + strings.Repeat("{},", 10_000) + "]}"
	if got := r.status(t, "POST", "/v1/lint", strings.NewReader(body)); got != http.StatusRequestEntityTooLarge {
		t.Errorf("status %d", got)
	}
	if got := r.status(t, "POST", "/v1/lint", strings.NewReader("{}")); got != http.StatusOK {
		t.Errorf("another gets status %d", got)
	}
}

// TestLateAnswer: the answer for a client that has already got another one is dropped.
func TestLateAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := made(t, Options{})
		x := &exchange{ResponseWriter: httptest.NewRecorder(), request: httptest.NewRequest("POST", "/v1/lint", nil), held: s.budget.charge()}
		err := s.judge(x, time.Second, func(ctx context.Context, w io.Writer) (string, error) {
			_, err := io.WriteString(w, "x")
			<-ctx.Done()
			return jsonType, err
		})
		if p, ok := errors.AsType[*problem](err); !ok || p.Status != http.StatusServiceUnavailable {
			t.Error(err)
		}
		synctest.Wait()
		if held := gauge(t, s.metrics.held); held != 0 {
			t.Errorf("%v bytes are held", held)
		}
	})
}

// A thousand clients that dawdle over their bodies delay no other client, and are answered themselves.
func TestThousandConnections(t *testing.T) {
	const clients = 1000
	address := listening(t, made(t, Options{Log: (&logged{}).logger()}))
	conns := make([]net.Conn, clients)
	for i := range conns {
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if _, err := io.WriteString(c, "POST /v1/lint HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		conns[i] = c
	}
	response, err := client(t, nil).Post("http://"+address+"/v1/lint", "", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("another client gets %s", response.Status)
	}
	var all errgroup.Group
	for _, c := range conns {
		all.Go(func() error {
			if _, err := io.WriteString(c, "}"); err != nil {
				return err
			}
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusTooManyRequests {
				return fmt.Errorf("status %s", response.Status)
			}
			_, err = io.Copy(io.Discard, response.Body)
			return err
		})
	}
	if err := all.Wait(); err != nil {
		t.Error(err)
	}
}
