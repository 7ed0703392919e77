// Package walktest compares walks with the real Envoy: it generates configurations and requests at the boundaries of their matchers, sends the requests
// through Envoy to upstreams that answer what they saw, and lists each disagreement.
package walktest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/walk"
)

// Options of a run.
type Options struct {
	Configurations int
	Requests       int // for each configuration
	Seed           uint64
	Progress       func(line string) // is told after each configuration how many there were; may be nil
}

func (o Options) progress(format string, args ...any) {
	if o.Progress != nil {
		o.Progress(fmt.Sprintf(format, args...))
	}
}

// Run compares. An error means that a comparison was not possible.
func Run(ctx context.Context, o Options) (*Report, error) {
	b, err := newBench()
	if err != nil {
		return nil, err
	}
	defer b.close()
	for i := range o.Configurations {
		if err := b.configuration(ctx, o.Seed+uint64(i), o.Requests); err != nil {
			return nil, fmt.Errorf("configuration %d: %w", o.Seed+uint64(i), err)
		}
		o.progress("%d configurations, %d requests, %d disagreements", b.report.Configurations, b.report.Requests, len(b.report.Disagreements))
	}
	return &b.report, nil
}

type bench struct {
	report      Report
	upstreams   []echo
	ports       map[string]int
	certificate [2]string       // of the listeners, and of the authority that they trust
	client      tls.Certificate // the same
}

// certified is the name in the certificate of clients and listeners.
const certified = "shop.test"

func newBench() (*bench, error) {
	b := &bench{ports: map[string]int{}, report: Report{Reasons: map[string]int{}, Details: map[string]int{}}}
	for _, name := range clusters {
		e, err := startEcho()
		if err != nil {
			b.close()
			return nil, err
		}
		b.upstreams = append(b.upstreams, e)
		b.ports[name] = e.port()
	}
	certificate, key, err := envoytest.MakeKeyPair(certified)
	if err != nil {
		b.close()
		return nil, err
	}
	b.certificate = [2]string{string(certificate), string(key)}
	b.client, err = tls.X509KeyPair(certificate, key)
	return b, err
}

func (b *bench) close() {
	for _, e := range b.upstreams {
		_ = e.Close()
	}
}

// configuration compares the requests of one configuration.
func (b *bench) configuration(ctx context.Context, seed uint64, requests int) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	c := generate(seed, b.ports, b.certificate)
	if seed%2 == 0 {
		c.widen(seed)
	}
	e, err := envoytest.Serve(ctx, c.text(0), ".json")
	if errors.Is(err, envoytest.ErrEnded) {
		b.report.Rejected = append(b.report.Rejected, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	defer e.Close()
	address, err := e.Addr(ctx, "main")
	if err != nil {
		return err
	}
	_, text, _ := net.SplitHostPort(address)
	port, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	view, err := read(ctx, c.text(port))
	if err != nil {
		return err
	}
	b.report.Configurations++
	return b.compare(ctx, seed, view, c, e, address, requests)
}

// read reads a bootstrap as the commands do.
func read(ctx context.Context, bootstrap string) (graph.View, error) {
	in, err := load.Texts(ctx, map[string][]byte{"envoy.json": []byte(bootstrap)}, load.Options{})
	if err != nil {
		return nil, err
	}
	return in.One("envoy.json")
}

func (b *bench) compare(ctx context.Context, seed uint64, view graph.View, c *configuration, e *envoytest.Envoy, address string, requests int) error {
	walker, boundaries := walk.New(view), walk.BoundariesOf(view)
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 11))}
	var sent []*walk.Request
	var all []seen
	for range requests {
		r := m.aimed(walker, boundaries, c)
		s, err := b.send(ctx, address, r)
		if err != nil {
			return err
		}
		sent, all = append(sent, r), append(all, s)
	}
	anonymous(all)
	log, err := b.logs(ctx, e, 0, all)
	if err != nil {
		return err
	}
	for i, r := range sent {
		all[i].log = log[all[i].key]
		a, err := walker.Walk(r)
		if err != nil {
			return err
		}
		b.judge(seed, r, a, all[i])
	}
	return nil
}

// anonymous removes the keys of requests that came from the same port: their logs cannot be told apart.
func anonymous(all []seen) {
	count := map[string]int{}
	for _, s := range all {
		count[s.key]++
	}
	for i, s := range all {
		if count[s.key] > 1 {
			all[i].key = ""
		}
	}
}

// logs waits until Envoy has logged all requests that it answered. from is where their part of the log begins.
func (b *bench) logs(ctx context.Context, e *envoytest.Envoy, from int, all []seen) (log map[string]*logged, err error) {
	for {
		log = readLog(e.Log()[from:])
		missing := 0
		for _, s := range all {
			if log[s.key] == nil && !s.closed && s.key != "" {
				missing++
			}
		}
		if missing == 0 {
			return log, nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("there is no log of %d of %d requests: %w", missing, len(all), ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (b *bench) judge(seed uint64, r *walk.Request, a *walk.Answer, s seen) {
	b.judgeNamed(strconv.FormatUint(seed, 10), r, a, s)
}

// judgeNamed compares an answer. name is that of the configuration.
func (b *bench) judgeNamed(name string, r *walk.Request, a *walk.Answer, s seen) {
	b.report.Requests++
	if s.log != nil {
		b.report.Details[s.log.details]++
	}
	if len(a.Unknown) > 0 {
		b.report.Unknown++
		for field, why := range a.Unknown {
			b.report.Reasons[field+": "+why]++
		}
	}
	if fields := compare(r, a, s); len(fields) > 0 {
		b.report.Disagreements = append(b.report.Disagreements, Disagreement{name, r, fields})
	}
}
