package walktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/posture"
	"github.com/xdslint/xdslint/internal/walk"
)

// RunGuards compares what is said of guards with the statistics that move, and sends each hole with curl.
func RunGuards(ctx context.Context, o Options) (*GuardReport, error) {
	b, err := newBench()
	if err != nil {
		return nil, err
	}
	defer b.close()
	g := &guardBench{bench: b, report: GuardReport{States: map[string]int{}, Holes: map[string]int{}}}
	service, err := startEcho() // lets everything pass
	if err != nil {
		return nil, err
	}
	defer service.Close()
	g.authz = service.port()
	if g.dir, err = os.MkdirTemp("", "guards"); err != nil {
		return nil, err
	}
	defer os.RemoveAll(g.dir)
	for i, name := range []string{"client.crt", "client.key"} {
		if err := os.WriteFile(filepath.Join(g.dir, name), []byte(b.certificate[i]), 0o600); err != nil {
			return nil, err
		}
	}
	for i := range o.Configurations {
		if err := g.configuration(ctx, o.Seed+uint64(i), o.Requests); err != nil {
			return nil, fmt.Errorf("configuration %d: %w", o.Seed+uint64(i), err)
		}
		o.progress("%d configurations, %d requests, %d disagreements", g.report.Configurations, g.report.Requests, len(g.report.Disagreements))
	}
	return &g.report, nil
}

type guardBench struct {
	*bench
	report GuardReport
	authz  int    // the port of the authorization service
	dir    string // with the certificate of the client
}

// running is a configuration that an Envoy runs.
type running struct {
	*envoytest.Envoy
	seed    uint64
	address string
	view    graph.View
	walker  *walk.Walker
	last    map[string]int // statistics after the last request
}

func (g *guardBench) configuration(ctx context.Context, seed uint64, requests int) error {
	ctx, cancel := context.WithTimeout(ctx, 4*time.Minute)
	defer cancel()
	c := guardConfiguration(seed, g.ports, g.certificate, g.authz)
	e, err := envoytest.Serve(ctx, c.text(0), ".json")
	if errors.Is(err, envoytest.ErrEnded) {
		g.report.Rejected = append(g.report.Rejected, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	defer e.Close()
	r := &running{Envoy: e, seed: seed}
	if r.address, err = e.Addr(ctx, "main"); err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(r.address)
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	if r.view, err = read(ctx, c.text(n)); err != nil {
		return err
	}
	r.walker = walk.New(r.view)
	if r.last, err = r.statistics(ctx); err != nil {
		return err
	}
	g.report.Configurations++
	return errors.Join(g.requests(ctx, r, c, requests), g.holes(ctx, r))
}

// requests compares generated requests, half of them with credentials.
func (g *guardBench) requests(ctx context.Context, r *running, c *configuration, n int) error {
	m := &maker{Rand: rand.New(rand.NewPCG(r.seed, 29))}
	boundaries := walk.BoundariesOf(r.view)
	for n > 0 {
		q := m.request(boundaries, c)
		if q.Path == nil {
			continue // a tunnel does not have a path
		}
		n--
		q.Source, q.ProxyProtocol = "127.0.0.1", nil
		if m.one(2) {
			q.Headers = append(q.Headers, walk.Header{"authorization", basic("ann", "secret")})
		}
		if m.one(2) {
			q.Headers = slices.DeleteFunc(q.Headers, func(h walk.Header) bool { return h[0] == keyHeader })
			q.Headers = append(q.Headers, walk.Header{keyHeader, rightKey})
		}
		for i := range q.Headers {
			q.Headers[i][1] = strings.TrimSpace(q.Headers[i][1])
		}
		if err := g.compare(ctx, r, q); err != nil {
			return err
		}
	}
	return nil
}

// compare sends a request, and compares the statistics that move with what its guards do.
func (g *guardBench) compare(ctx context.Context, r *running, q *walk.Request) error {
	found, err := r.walker.Guards(q)
	if err != nil {
		return err
	}
	if _, err := g.send(ctx, r.address, q); err != nil {
		return err
	}
	g.report.Requests++
	return g.judge(ctx, r, r.expected(q, found), title(q))
}

// judge waits until the statistics are as expected of the guards, or it is certain that they will not be.
func (g *guardBench) judge(ctx context.Context, r *running, want map[string]string, what string) error {
	var moved map[string]bool
	for range 40 {
		now, err := r.statistics(ctx)
		if err != nil {
			return err
		}
		moved = movedKinds(r.last, now)
		if agrees(want, moved) {
			r.last = now
			for kind, state := range want {
				g.report.States[kind+" "+state]++
			}
			return nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	r.last, _ = r.statistics(ctx)
	g.report.Disagreements = append(g.report.Disagreements, fmt.Sprintf("configuration %d: %s: expected %v, moved %v", r.seed, what, want, slices.Sorted(maps.Keys(moved))))
	return nil
}

func title(q *walk.Request) string {
	text := q.Method
	if q.Authority != nil {
		text += " " + *q.Authority
	}
	if q.Path != nil {
		text += *q.Path
	}
	return fmt.Sprintf("%s %v HTTP/%s %v", text, q.Headers, q.HTTP, q.ClientCert)
}

// holes lets curl send what is guarded and what is a hole, and compares the same.
func (g *guardBench) holes(ctx context.Context, r *running) error {
	report, err := posture.Make(r.view, nil)
	if err != nil {
		return err
	}
	for _, h := range report.Holes {
		for _, way := range []posture.Way{h.Cell.Way, h.Way} {
			before := len(g.report.Disagreements)
			if err := g.confirm(ctx, r, way); err != nil {
				return err
			}
			if len(g.report.Disagreements) == before && way == h.Way {
				g.report.Holes[h.Trick]++
			}
		}
	}
	return nil
}

// confirm lets curl send a request, and compares its guards, and whether it gets to an upstream.
func (g *guardBench) confirm(ctx context.Context, r *running, way posture.Way) error {
	q := *way.Sent
	q.Source = "127.0.0.1"
	if !strings.Contains(way.Curl(), " accept:") { // curl adds it
		q.Headers = append(slices.Clone(q.Headers), walk.Header{"accept", "*/*"})
	}
	for _, guard := range way.Guards {
		if guard.Kind == walk.MTLS && guard.State.Holds() {
			q.ClientCert = walk.Identity{Presented: true, Name: certified}
		}
	}
	found, err := r.walker.Guards(&q)
	if err != nil {
		return err
	}
	out, err := g.curl(ctx, way.Curl())
	if err != nil {
		return err
	}
	want := r.expected(&q, found)
	passes := !slices.ContainsFunc(slices.Collect(maps.Values(want)), func(does string) bool { return does == "rejects" || does == "answers" })
	if reached := strings.Contains(strings.ToLower(out), "x-echo:"); reached != passes {
		g.report.Disagreements = append(g.report.Disagreements, fmt.Sprintf("configuration %d: %s: reaches the upstream: %v, not %v\n%s", r.seed, way.Curl(), reached, passes, out))
	}
	return g.judge(ctx, r, want, way.Curl())
}

// curl runs a command of a report.
func (g *guardBench) curl(ctx context.Context, command string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	run := exec.CommandContext(ctx, "bash", "-c", command+" -s -S")
	run.Dir = g.dir
	out, err := run.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); ended && ctx.Err() == nil {
		return string(out), nil // Envoy closed the connection
	}
	return string(out), err
}
