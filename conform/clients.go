package conform

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recorder"
)

// DefaultClientWait is how long a client may take to connect and to answer, unless the caller says otherwise.
const DefaultClientWait = time.Minute

// ErrNoClient is returned if no client has connected.
var ErrNoClient = errors.New("no client has connected")

// Clients tests the clients that connect to a listener: it is their management server. It closes the listener. Wait is how
// long a client may take to connect, also after it has lost its streams, and to answer; 0 means DefaultClientWait. The
// error says why clients cannot be tested.
func Clients(ctx context.Context, l net.Listener, wait time.Duration) (*Report, error) {
	if wait == 0 {
		wait = DefaultClientWait
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // what reads from streams
	h := &host{ctx: ctx, wait: wait, checker: protocol.NewChecker(), inbox: make(chan visit, queue), stock: newStock(), results: results{}}
	h.checker.Clients, h.checker.Patience = true, wait/protocol.Slowness
	h.out = recorder.Live("clients", h.checker)
	server := grpc.NewServer(
		grpc.UnknownServiceHandler(h.serve),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
	)
	go func() { _ = server.Serve(l) }() // until Stop
	defer server.Stop()
	if err := h.play(); err != nil {
		return nil, err
	}
	return h.report(), ctx.Err()
}

// host is a management server that tests clients. All of it happens in one goroutine, but for reading from streams and
// writing to them. What it says and hears is one recording: a client does not start again for each scenario.
type host struct {
	ctx     context.Context
	wait    time.Duration
	checker *protocol.Checker
	out     *recorder.Writer
	inbox   chan visit
	streams []*line // that are open
	stock   *stock
	nonces  int
	odds    int  // how many odd versions there were
	rejects bool // it ends streams instead of answering
	ended   int  // how many streams it has ended so
	heard   int  // bytes of all requests
	asked   map[transport][]string
	results results
	notes
}

// mostHeard is how many bytes clients may send.
const mostHeard = 256 << 20

// play plays the scenarios.
func (h *host) play() error {
	if !h.until(func() bool { return len(h.asked) > 0 }) {
		if h.ctx.Err() != nil {
			return h.ctx.Err()
		}
		return fmt.Errorf("%w within %s", ErrNoClient, h.wait)
	}
	known := 0
	for _, s := range clientScenarios {
		s.run(h)
		h.results.add(s.name, h.checker, known)
		known = len(h.checker.Findings())
		switch {
		case h.ctx.Err() != nil:
			return h.ctx.Err()
		case h.heard > mostHeard:
			return fmt.Errorf("the clients have sent more than %d MiB", mostHeard>>20)
		case len(h.streams) == 0:
			h.note("%s: the client has not connected again; the scenarios after it are left out", s.name)
			return h.end()
		}
	}
	return h.end()
}

func (h *host) end() error {
	known := len(h.checker.Findings())
	h.hangUp()
	h.checker.End()
	h.results.add("at the end", h.checker, known)
	return h.out.Close()
}

func (h *host) report() *Report {
	var seen []transport
	for _, t := range transports {
		if len(h.asked[t]) > 0 {
			seen = append(seen, t)
		}
	}
	report := h.results.report(true, seen, func(t transport) []string { return h.asked[t] })
	report.Notes = h.notes
	return report
}

// until lets clients talk until something is the case, and reports whether it is.
func (h *host) until(f func() bool) bool {
	timer := time.NewTimer(h.wait)
	defer timer.Stop()
	for !f() {
		select {
		case v := <-h.inbox:
			h.take(v)
		case <-timer.C:
			return false
		case <-h.ctx.Done():
			return false
		}
	}
	return true
}

// calm is how long nothing must come until clients are silent.
const calm = 300 * time.Millisecond

// settle lets clients talk until they are silent, and have sent what the checker waits for or are late with it.
func (h *host) settle() {
	for heard := 0; heard < endless; {
		timer := time.NewTimer(calm)
		select {
		case v := <-h.inbox:
			timer.Stop()
			h.take(v)
			heard++
		case <-timer.C:
			h.checker.Expire(time.Now())
			if !h.checker.Pending() {
				return
			}
		case <-h.ctx.Done():
			timer.Stop()
			return
		}
	}
	h.note("the clients were not silent after %d requests", endless)
}

// each calls f for each type of each stream of which something is served.
func (h *host) each(f func(*watch)) {
	for _, s := range slices.Clone(h.streams) {
		for _, w := range s.ordered {
			if serves(w.typeURL) {
				f(w)
			}
		}
	}
}

// push sends the newest revision to all clients.
func (h *host) push(typeURLs ...string) {
	for _, url := range typeURLs {
		h.stock.revision[url]++
	}
	h.each(func(w *watch) {
		if slices.Contains(typeURLs, w.typeURL) {
			w.update()
		}
	})
	h.settle()
}
