package reference_test

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	healthv1 "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/xds"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	discoveryv3 "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"

	"github.com/xdslint/xdslint/internal/reference"
)

// proxyless is a real client of grpc-go that gets everything from a store, and the servers that it calls.
type proxyless struct {
	t     *testing.T
	ctx   context.Context
	store *reference.Store
	conn  *grpc.ClientConn
	ports []uint32 // of the servers
	nacks atomic.Int32

	wait, each time.Duration // for an answer, and for that to each call
}

func newProxyless(t *testing.T, flaw func(reference.Session) reference.Session) *proxyless {
	t.Helper()
	const patience = 5 * time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	p := &proxyless{t: t, ctx: ctx, store: reference.NewStore(), wait: patience, each: patience}
	if flaw != nil { // then what a test waits for may never come; gRPC waits for 15 seconds
		p.wait, p.each = 20*time.Second, 2*time.Second
	}
	p.store.Wrap = func(s reference.Session, _ bool) reference.Session {
		if flaw != nil {
			s = flaw(s)
		}
		return &altered{Session: s, in: func(next reference.Session, q proto.Message) []proto.Message {
			if rejects(q) {
				p.nacks.Add(1)
			}
			return next.Request(q)
		}}
	}
	backend := grpc.NewServer()
	healthv1.RegisterHealthServer(backend, health.NewServer())
	t.Cleanup(backend.Stop)
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = backend.Serve(l) }()                            // until Stop
		p.ports = append(p.ports, uint32(l.Addr().(*net.TCPAddr).Port)) //nolint:gosec // a port
	}
	p.make(&listenerv3.Listener{}, "web", `{"name": "web", "api_listener": {"api_listener": {
		"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"rds": {"route_config_name": "web", "config_source": {"ads": {}}},
		"http_filters": [{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}]}}}`)
	p.routes("shop")
	p.cluster("shop", 1)
	p.endpoints("shop", 0)
	server, err := reference.Serve(p.store, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	builder, err := xds.NewXDSResolverWithConfigForTesting(fmt.Appendf(nil,
		`{"xds_servers": [{"server_uri": %q, "channel_creds": [{"type": "insecure"}]}], "node": {"id": "proxyless-1"}}`, server.Address))
	if err == nil {
		p.conn, err = grpc.NewClient("xds:///web", grpc.WithResolvers(builder), grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.conn.Close() })
	return p
}

func (p *proxyless) make(m proto.Message, name, text string) {
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		p.t.Fatal(err)
	}
	p.store.Set(name, m)
}

// routes sends calls of a method to a cluster each: /shop to "shop". All others go to the first.
func (p *proxyless) routes(clusters ...string) {
	var all []string
	for _, name := range clusters {
		all = append(all, fmt.Sprintf(`{"match": {"prefix": "", "headers": [{"name": "to", "string_match": {"exact": %q}}]}, "route": {"cluster": %[1]q}}`, name))
	}
	p.make(&routev3.RouteConfiguration{}, "web", `{"name": "web", "virtual_hosts": [{"name": "web", "domains": ["*"], "routes": [`+strings.Join(all, ", ")+`]}]}`)
}

func (p *proxyless) cluster(name string, n int64) { p.store.Set(name, cluster(name, n)) }

// endpoints lets a cluster have one of the servers.
func (p *proxyless) endpoints(name string, server int) {
	a := assignment(name, p.ports[server])
	p.make(a, name, string(withLocality(p.t, a)))
}

// withLocality adds what gRPC demands.
func withLocality(t *testing.T, m proto.Message) []byte {
	text, err := protojson.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.Replace(string(text), `"lbEndpoints"`, `"locality": {"zone": "a"}, "loadBalancingWeight": 1, "lbEndpoints"`, 1))
}

// call returns which server answers for a cluster, or the status.
func (p *proxyless) call(cluster string) string {
	ctx, cancel := context.WithTimeout(metadata.AppendToOutgoingContext(p.ctx, "to", cluster), p.each)
	defer cancel()
	from := &peer.Peer{}
	if _, err := healthv1.NewHealthClient(p.conn).Check(ctx, &healthv1.HealthCheckRequest{}, grpc.Peer(from)); err != nil {
		return status.Code(err).String()
	}
	return fmt.Sprint(slices.Index(p.ports, uint32(from.Addr.(*net.TCPAddr).Port))) //nolint:gosec // a port
}

// reaches waits until a server answers for a cluster.
func (p *proxyless) reaches(cluster string, server int) {
	p.t.Helper()
	p.until(func() bool { return p.call(cluster) == fmt.Sprint(server) })
}

func (p *proxyless) until(f func() bool) {
	p.t.Helper()
	for !f() {
		select {
		case <-p.ctx.Done():
			p.t.Fatal("it does not happen")
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// withCart adds a cluster.
func (p *proxyless) withCart() {
	p.t.Helper()
	p.reaches("shop", 0)
	p.cluster("cart", 1)
	p.endpoints("cart", 0)
	p.routes("shop", "cart")
	p.reaches("cart", 0)
}

// proxylessHarms are flaws that make a real client of grpc-go visibly wrong.
var proxylessHarms = []struct {
	clause string
	flaw   func() func(reference.Session) reference.Session
	play   func(p *proxyless)
	sees   func(p *proxyless) string
	right  string
}{
	{"update-not-sent", endpointsLost(func(name string, again bool) bool { return name == "cart" && again }), func(p *proxyless) {
		p.withCart()
		p.endpoints("cart", 1)
		p.endpoints("shop", 1)
		p.reaches("shop", 1)
	}, func(p *proxyless) string { return p.call("cart") }, "1"},
	{"creation-not-sent", endpointsLost(func(name string, _ bool) bool { return name == "late" }), func(p *proxyless) {
		p.reaches("shop", 0)
		p.cluster("late", 1)
		p.routes("shop", "late")
		p.endpoints("late", 1)
	}, func(p *proxyless) string { return p.eventually("late", "1") }, "1"},
	{"state-incomplete", each(partial), func(p *proxyless) {
		p.reaches("shop", 0)
		p.cluster("cart", 1)
		p.endpoints("cart", 0)
		p.routes("shop", "cart")
	}, func(p *proxyless) string { return p.eventually("cart", "0") + p.eventually("shop", "0") }, "00"},
	{"state-partial", onlyChanged, func(p *proxyless) {
		p.withCart()
		p.cluster("cart", 2)
		p.endpoints("cart", 1)
		p.reaches("cart", 1)
	}, func(p *proxyless) string { return p.call("shop") }, "0"},
	{"new-request-unanswered", each(func(s reference.Session) reference.Session { return withholding(s, reference.Endpoints, resent()) }), func(p *proxyless) {
		p.withCart()
		p.routes("shop")
		p.until(func() bool { return p.call("cart") == "Unavailable" })
		p.routes("shop", "cart")
	}, func(p *proxyless) string { return p.eventually("cart", "0") }, "0"},
	{"response-type-missing", each(edit(func(q proto.Message) []proto.Message {
		if get(q, "type_url") == reference.Endpoints {
			set(q, "type_url", "")
		}
		return one(q)
	})), func(*proxyless) {}, func(p *proxyless) string { return p.eventually("shop", "0") }, "0"},
	{"resource-type-differs", each(once(reference.Clusters, 1, foreign)), func(*proxyless) {}, func(p *proxyless) string {
		p.until(func() bool { return p.nacks.Load() > 0 || p.call("shop") == "0" })
		return fmt.Sprint(p.nacks.Load())
	}, "0"},
	{"nack-loop", each(insistent), func(p *proxyless) {
		p.reaches("shop", 0)
		bad := cluster("shop", 2)
		bad.EdsClusterConfig = nil
		p.store.Set("shop", bad)
		p.until(func() bool { return p.nacks.Load() > 0 })
		p.cluster("shop", 3)
		p.endpoints("shop", 1)
		p.reaches("shop", 1)
	}, func(p *proxyless) string { return fmt.Sprint(p.nacks.Load()) }, "1"},
}

// eventually waits for an answer for a while, and returns what comes instead of it.
func (p *proxyless) eventually(cluster, want string) (got string) {
	for end := time.Now().Add(p.wait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = p.call(cluster); got == want {
			break
		}
	}
	return got
}

// endpointsLost is a flaw that loses endpoints. again: it has sent others of the cluster before.
func endpointsLost(lost func(name string, again bool) bool) func() func(reference.Session) reference.Session {
	return each(func(s reference.Session) reference.Session {
		sent := map[string]string{}
		return withholding(s, reference.Endpoints, func(p proto.Message) proto.Message {
			return keep(p, func(name, content string) bool {
				before, known := sent[name]
				sent[name] = content
				return !lost(name, known && before != content)
			})
		})
	})
}

// foreign adds a resource of another type.
func foreign(p proto.Message) []proto.Message {
	other, _ := anypb.New(web) // a message can be packed
	switch p := p.(type) {
	case *discoveryv3.DiscoveryResponse:
		p.Resources = append(p.Resources, other)
	case *discoveryv3.DeltaDiscoveryResponse:
		p.Resources = append(p.Resources, &discoveryv3.Resource{Name: "web", Version: "1", Resource: other})
	}
	return one(p)
}

// insistent answers each NACK of clusters with the same once more, a few times.
func insistent(s reference.Session) reference.Session {
	var last proto.Message
	right, alias, count := "", "", 0
	return &altered{
		Session: s,
		out: func(p proto.Message) []proto.Message {
			if get(p, "type_url") == reference.Clusters && get(p, "nonce") != alias {
				last, right, alias = p, get(p, "nonce"), ""
			}
			return one(p)
		},
		in: func(next reference.Session, q proto.Message) []proto.Message {
			if get(q, "type_url") != reference.Clusters || !rejects(q) || count == 20 {
				return next.Request(corrected(q, alias, right))
			}
			count++
			alias = fmt.Sprintf("again-%d", count)
			p := proto.Clone(last)
			set(p, "nonce", alias)
			return one(p)
		},
	}
}

// TestProxylessHarms: a real client of grpc-go is visibly wrong because of the breach of a clause, and right without it.
func TestProxylessHarms(t *testing.T) {
	if testing.Short() {
		t.Skip("some clients wait for 15 seconds")
	}
	for _, h := range proxylessHarms {
		t.Run(h.clause, func(t *testing.T) {
			t.Parallel()
			right := newProxyless(t, nil)
			h.play(right)
			if got := h.sees(right); got != h.right {
				t.Errorf("without the flaw: %s, want %s", got, h.right)
			}
			wrong := newProxyless(t, h.flaw())
			h.play(wrong)
			if got := h.sees(wrong); got == h.right {
				t.Errorf("with the flaw: %s too", got)
			} else {
				t.Logf("with the flaw: %s", got)
			}
		})
	}
}
