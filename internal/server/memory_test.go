package server

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/reserve"
)

// scarce makes a server believe in a limit of its memory. It returns what the server takes to be in use.
func scarce(r *running, limit int64) *atomic.Uint64 {
	inUse := new(atomic.Uint64)
	r.memory = newMemory(limit)
	r.memory.inUse = inUse.Load
	return inUse
}

const review = `{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u-1", "operation": "CREATE", "object": {"kind": "x"}}}`

// TestTooMuchMemory: when too much memory is in use, the oldest request is ended, and then the others fit.
func TestTooMuchMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var r *running
		var inUse *atomic.Uint64
		r = run(t, Options{MaxConcurrent: 3, Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
			for text := range texts {
				if strings.HasSuffix(text, "small") {
					time.Sleep(time.Second)
					return nothing(ctx, texts)
				}
			}
			inUse.Store(2 << 20)
			<-ctx.Done()
			inUse.Store(0)
			return nil, ctx.Err()
		}}})
		inUse = scarce(r, 1<<21)
		large := make(chan string)
		ask := func(path, body string) {
			response, err := r.client.Do(r.request(t, "POST", path, "application/json", strings.NewReader(body)))
			if err != nil {
				t.Error(err)
				return
			}
			answer, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			large <- fmt.Sprint(response.StatusCode, string(answer), err)
		}
		go ask("/v1/lint", "{}")
		time.Sleep(time.Millisecond)
		if got := r.status(t, "POST", "/v1/lint?filename=small", strings.NewReader("{}")); got != http.StatusOK {
			t.Errorf("a small one gets status %d", got)
		}
		if got := <-large; !strings.HasPrefix(got, "503") || !strings.Contains(got, errMemory.Detail) {
			t.Errorf("a large one gets %s", got)
		}
		go ask("/k8s/validate", review)
		if got := <-large; !strings.HasPrefix(got, "200") || !strings.Contains(got, `"allowed":true`) || !strings.Contains(got, errMemory.Detail) {
			t.Errorf("a large review gets %s", got)
		}
	})
}

// TestReadingIsReserved: texts whose reading takes more than there is are not read, and others wait for their turn.
func TestReadingIsReserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var reading, most atomic.Int32
		r := run(t, Options{MaxConcurrent: 4, Linter: fake{lint: func(ctx context.Context, texts map[string][]byte) (*xdslint.Report, error) {
			if !reserve.Reading(ctx, texts["body"]) {
				return nil, ctx.Err()
			}
			most.Store(max(most.Load(), reading.Add(1)))
			time.Sleep(time.Second)
			reading.Add(-1)
			return nothing(ctx, texts)
		}}})
		scarce(r, 6<<20)
		for text, want := range map[string]int{"[" + strings.Repeat("1,", 4000) + "1]": 503, strings.Repeat("- a\n", 3900): 200, "{}": 200} {
			if got := r.status(t, "POST", "/v1/lint", strings.NewReader(text)); got != want {
				t.Errorf("%.10s… gets %d, want %d", text, got, want)
			}
		}
		half := strings.Repeat("- a\n", 1900)
		statuses := make(chan int)
		for i := range 4 {
			go func() { statuses <- r.status(t, "POST", "/v1/lint", strings.NewReader(fmt.Sprint(half, i))) }()
		}
		for range 4 {
			if got := <-statuses; got != http.StatusOK {
				t.Errorf("status %d", got)
			}
		}
		if most.Load() != 2 {
			t.Errorf("%d are read at once", most.Load())
		}
	})
}

// TestReservations: a task waits for what others have reserved, and is ended if all of these wait too.
func TestReservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(200)
		m.inUse = func() uint64 { return 0 }
		ctx := [3]context.Context{}
		tasks := [3]*task{}
		for i := range ctx {
			made, end := context.WithCancelCause(t.Context())
			defer end(nil)
			ctx[i] = made
			_, tasks[i] = m.begin(made, end)
		}
		got := make(chan string, 3)
		ask := func(i int, size int64) {
			go func() { got <- fmt.Sprint(i, m.reserve(ctx[i], tasks[i], size)) }()
			synctest.Wait()
		}
		expect := func(want string) {
			t.Helper()
			select {
			case answer := <-got:
				if answer != want {
					t.Errorf("got %q, want %q", answer, want)
				}
			default:
				t.Errorf("got nothing, want %q", want)
			}
		}
		ask(0, 60)
		expect("0 true")
		ask(1, 30)
		expect("1 true")
		ask(0, 30) // waits for 1
		ask(2, 10)
		expect("2 true")
		ask(1, 20) // waits for 2
		m.finish(tasks[2])
		synctest.Wait()
		if len(got) != 1 || context.Cause(ctx[0]) != nil && context.Cause(ctx[1]) != nil {
			t.Errorf("%d answers", len(got))
		}
		for i := range 2 {
			if context.Cause(ctx[i]) == errMemory {
				expect(fmt.Sprint(i, false))
				m.finish(tasks[i])
				synctest.Wait()
				expect(fmt.Sprint(1-i, true))
			}
		}
		m.finish(tasks[0])
		if m.most != 100 {
			t.Error(m.most)
		}
	})
}
