package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	tlsv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/transport_sockets/tls/v3"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

func TestACKTimeout(t *testing.T) {
	t.Parallel()
	overEach(t, func(t *testing.T, transport lint.Transport) {
		p, envoys := start(t, transport, plain, 1)
		envoys[0].withhold(cds)
		opts := options(p)
		opts.Plan.AckTimeout = 300 * time.Millisecond
		err := push(p, rerouted.snapshot(t, "v2", transport), opts)
		var late *TimeoutError
		if !errors.As(err, &late) || late.Phase != 1 || late.Wait.Kind != graph.Cluster || !slices.Contains(late.Wait.Names, "c2") {
			t.Fatalf("got %v", err)
		}
		if !strings.Contains(err.Error(), `no ACK of cluster`) || !strings.Contains(err.Error(), "has not answered: it may still be warming resources") {
			t.Errorf("the error says %v", err)
		}
		p.holds(t, plain.snapshot(t, "v1", transport))
		envoys[0].release(cds)
		envoys[0].serves(plain.snapshot(t, "v1", transport))
	})
}

func TestNobody(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	envoys[0].disconnect()
	envoys[0].eventually("nobody", func() bool {
		p.tracker.mu.Lock()
		defer p.tracker.mu.Unlock()
		return len(p.tracker.nodes) == 0
	})
	opts := options(p)
	opts.Plan.AckTimeout = 300 * time.Millisecond
	err := push(p, rerouted.snapshot(t, "v2", lint.ADSSotW), opts)
	if want := `node "edge", phase 1 of 3: no ACK of cluster "c2" within 300ms: no Envoy of this node is connected`; err == nil || err.Error() != want {
		t.Fatalf("got  %v\nwant %s", err, want)
	}
	p.holds(t, plain.snapshot(t, "v1", lint.ADSSotW))

	after := rerouted.snapshot(t, "v2", lint.ADSSotW)
	result := going(p, after, options(p))
	time.Sleep(50 * time.Millisecond)
	envoys[0].connect()
	if err := ended(t, result); err != nil {
		t.Fatal(err)
	}
	envoys[0].serves(after)
}

func TestNACK(t *testing.T) {
	t.Parallel()
	for _, transport := range lint.Transports {
		for _, url := range []string{cds, rds} {
			t.Run(fmt.Sprintf("%s/%s", transport, short(url)), func(t *testing.T) {
				t.Parallel()
				p, envoys := start(t, transport, plain, 1)
				envoys[0].does(func() { envoys[0].refuses = url })
				var phase int
				opts := options(p)
				opts.Progress = func(e Event) { phase = e.Phase }
				err := push(p, rerouted.snapshot(t, "v2", transport), opts)
				var nack *NackError
				if !errors.As(err, &nack) || nack.TypeURL != url || nack.Message != "no such thing" || nack.Phase != phase || nack.Version == "" {
					t.Fatalf("got %v", err)
				}
				want := plain
				if url == rds { // the clusters exist by then
					want.clusters = map[string]time.Duration{"c1": time.Second, "c2": time.Second}
				}
				p.holds(t, want.snapshot(t, "v1", transport))
				envoys[0].serves(want.snapshot(t, "v1", transport))

				moved := want // nothing is requested again, so what is stuck stays stuck
				moved.backend = 9090
				after := moved.snapshot(t, "v3", transport)
				if err := push(p, after, options(p)); err != nil {
					t.Fatal(err)
				}
				envoys[0].serves(after)

				after = rerouted.snapshot(t, "v4", transport)
				if err := push(p, after, options(p)); err != nil {
					t.Fatal(err)
				}
				envoys[0].serves(after)
			})
		}
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	p, envoys := start(t, lint.ADSSotW, plain, 1)
	envoys[0].withhold(cds)
	ctx, cancel := context.WithCancel(context.Background())
	result := make(chan error, 1)
	go func() { result <- Run(ctx, p.cache, "edge", nil, rerouted.snapshot(t, "v2", lint.ADSSotW), options(p)) }()
	envoys[0].eventually("the new cluster", func() bool { return envoys[0].has[cds]["c2"] != nil })
	cancel()
	if err := ended(t, result); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if s, _ := p.cache.GetSnapshot("edge"); s.GetResources(cds)["c2"] == nil {
		t.Error("the last state is gone")
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	p := newPlane(t, lint.ADSSotW)
	if err := push(p, &cachev3.Snapshot{}, Options{}); err == nil || err.Error() != "apply.Options: Tracker is not set" {
		t.Errorf("got %v", err)
	}
	if err := push(p, nil, options(p)); err == nil {
		t.Error("there is no target")
	}
}

// Secrets that Envoy quotes do not appear in errors, which end up in logs.
func TestNACKQuotesNoSecret(t *testing.T) {
	secret := &tlsv3.Secret{Type: &tlsv3.Secret_GenericSecret{GenericSecret: &tlsv3.GenericSecret{
		Secret: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: "swordfish"}},
	}}}
	r := &run{
		session: &session{pushed: map[version]int{}}, made: &plan.Plan{},
		resources: []*graph.Resource{{Kind: graph.Secret, Message: secret, File: &source.File{Name: "snapshot"}}},
	}
	err := r.nackError(&nack{message: "cannot parse swordfish"})
	if !strings.HasSuffix(err.Error(), "cannot parse [secret]") {
		t.Error(err)
	}
}
