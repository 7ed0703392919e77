package transitions

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Rate is the number of requests per second that go through Envoy.
type Rate struct {
	KeepAlive int // over connections that stay
	Fresh     int // each over a connection of its own
}

// perClient is the number of requests per second on one connection, or from one client without a connection.
const perClient = 20

// giveUp is the time after which a client no longer waits for an answer. What is slow is noticed earlier (Result.Symptoms).
const giveUp = 10 * time.Second

// crowd has all clients of a run.
type crowd struct {
	clients []*client
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	steady bool

	mu sync.Mutex
	tally
	usual map[string]bool // requests and the endpoints that answered them before the push
}

// tally counts the outcomes of requests.
type tally struct {
	requests  int
	failures  map[string]int
	slowest   time.Duration
	reconnect int           // connections that should have stayed open and had to be opened again
	last      time.Duration // the last failure, after the push
	stalled   time.Duration // the longest time in which no client could send a request
	began     time.Time
}

type client struct {
	crowd     *crowd
	target    *target
	fresh     bool
	transport *http.Transport
	next      int
}

// gather creates the clients, without starting them.
func gather(ts []*target, certificate tls.Certificate, rate Rate, steady bool) *crowd {
	c := &crowd{steady: steady, usual: map[string]bool{}, tally: tally{failures: map[string]int{}}}
	if len(ts) == 0 {
		return c
	}
	add := func(n int, fresh bool) {
		for i := range max(n/perClient, len(ts)) {
			c.clients = append(c.clients, newClient(c, ts[i%len(ts)], certificate, fresh))
		}
	}
	add(rate.KeepAlive, false)
	add(rate.Fresh, true)
	return c
}

func newClient(c *crowd, t *target, certificate tls.Certificate, fresh bool) *client {
	return &client{crowd: c, target: t, fresh: fresh, transport: &http.Transport{
		DialContext:       t.dial,
		DisableKeepAlives: fresh,
		TLSClientConfig: &tls.Config{
			InsecureSkipVerify: true, //nolint:gosec // what counts is whether it answers
			ServerName:         t.sni,
			Certificates:       []tls.Certificate{certificate},
		},
	}}
}

func (t *target) dial(ctx context.Context, network, _ string) (conn net.Conn, err error) {
	for _, addr := range t.addrs {
		if conn, err = new(net.Dialer).DialContext(ctx, network, addr); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// sift removes and returns the requests that fail before anything is pushed.
func sift(ctx context.Context, ts []*target, certificate tls.Certificate) (kept []*target, lost []string) {
	const wait = 2 * time.Second
	for _, t := range ts {
		probe := newClient(nil, t, certificate, true)
		var good []ask
		for _, a := range t.asks {
			deadline := time.Now().Add(wait)
			got := probe.send(ctx, a)
			for got.failure != "" && time.Now().Before(deadline) {
				time.Sleep(50 * time.Millisecond)
				got = probe.send(ctx, a)
			}
			if got.failure == "" {
				good = append(good, a)
			} else {
				lost = append(lost, fmt.Sprintf("%s%s: %s", a.host, a.path, got.failure))
			}
		}
		if len(good) > 0 {
			kept = append(kept, &target{t.addrs, t.tls, t.sni, good})
		}
	}
	return kept, lost
}

// start lets the clients send requests until stop.
func (c *crowd) start() {
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	c.wg.Go(func() { c.watch(ctx) })
	for i, each := range c.clients {
		c.wg.Go(func() {
			defer each.transport.CloseIdleConnections()
			// Spread over the interval, so that something is under way at any time.
			time.Sleep(time.Second / perClient * time.Duration(i) / time.Duration(len(c.clients)))
			tick := time.NewTicker(time.Second / perClient)
			defer tick.Stop()
			for {
				each.ask()
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
		})
	}
}

// watch notices when this machine itself stalls: then the cause of a slow answer is not known.
func (c *crowd) watch(ctx context.Context) {
	const interval = 10 * time.Millisecond
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for last := time.Now(); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		c.mu.Lock()
		c.stalled = max(c.stalled, time.Since(last)-interval)
		c.mu.Unlock()
		last = time.Now()
	}
}

// count starts a new count, and returns the previous one.
func (c *crowd) count() tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.tally
	c.tally = tally{failures: map[string]int{}, began: time.Now()}
	return before
}

// stop waits until all requests have an answer.
func (c *crowd) stop() tally {
	if c.cancel != nil {
		c.cancel()
	}
	c.wg.Wait()
	return c.tally
}

func (c *client) ask() {
	began := time.Now()
	asked := c.target.asks[c.next%len(c.target.asks)]
	got := c.send(context.Background(), asked)
	c.next++
	took := time.Since(began)

	c.crowd.mu.Lock()
	defer c.crowd.mu.Unlock()
	c.crowd.follow(fmt.Sprint(asked, got.upstream), &got)
	if began.Before(c.crowd.began) && got.failure == "" {
		return // counted, and answered, before the push
	}
	t := &c.crowd.tally
	t.requests++
	t.slowest = max(t.slowest, took)
	if got.failure != "" {
		t.failures[got.failure]++
		t.last = time.Since(t.began)
	} else if got.reconnected && !c.fresh {
		t.reconnect++
	}
}

// follow notes who answers before the push, and finds answers of others after it.
func (c *crowd) follow(who string, got *answer) {
	switch {
	case got.failure != "" || !c.steady:
	case c.began.IsZero():
		c.usual[who] = true
	case !c.usual[who]:
		got.failure = "astray"
	}
}

// answer is the outcome of one request.
type answer struct {
	failure     string // empty: it was answered well
	upstream    string // that answered, by its address in the files; empty: Envoy did
	reconnected bool
}

// send makes one request.
func (c *client) send(ctx context.Context, a ask) (got answer) {
	ctx, cancel := context.WithTimeout(ctx, giveUp)
	defer cancel()
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(info httptrace.GotConnInfo) { got.reconnected = !info.Reused },
	})
	scheme := "http"
	if c.target.tls {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+a.host+a.path, nil)
	if err != nil {
		got.failure = err.Error()
		return got
	}
	if a.header != "" {
		request.Header.Set(a.header, a.key)
	}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		got.failure = broken(ctx, err)
		return got
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		got.failure = broken(ctx, err)
		return got
	}
	got.failure, got.upstream = judge(response.StatusCode, string(body)), response.Header.Get(nameHeader)
	return got
}

// judge names the failure that an answer reports. A redirect or a direct response is not a failure.
func judge(status int, body string) string {
	flags, own := strings.CutPrefix(body, flagsMark)
	if !own {
		if status == http.StatusOK {
			return ""
		}
		return fmt.Sprint(status)
	}
	flags, details, _ := strings.Cut(flags, " ")
	if flags == "-" && details == "direct_response" || status < http.StatusBadRequest {
		return ""
	}
	return fmt.Sprintf("%d %s", status, flags)
}

func broken(ctx context.Context, err error) string {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case ctx.Err() != nil:
		return "timeout"
	}
	return "reset"
}
