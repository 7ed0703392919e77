package grpctest

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/maglev/v3"      // for protojson
	_ "github.com/envoyproxy/go-control-plane/envoy/extensions/load_balancing_policies/round_robin/v3" // the same
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/xdslint/xdslint/dataplane"
	dataplanegrpc "github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/resolve"
	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

var snapshots = flag.Int("snapshots", 15, "how many snapshots TestWalk makes; it sends four kinds of RPCs through each")

// TestWalk sends RPCs of real clients through generated snapshots, and compares what they get with what the walk says. Clients mostly wait for
// resources that do not exist, so that many can run side by side.
func TestWalk(t *testing.T) {
	b := &backend{server: grpc.NewServer(grpc.UnknownServiceHandler(answer))}
	defer b.server.Stop()
	var ports []int
	for range 10 {
		at, err := b.listen()
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, int(at.port))
	}
	var all sync.WaitGroup
	outcomes, gate := make(chan string, 4**snapshots), make(chan struct{}, 40)
	for i := range *snapshots {
		gate <- struct{}{}
		all.Go(func() {
			defer func() { <-gate }()
			m := &maker{Rand: rand.New(rand.NewPCG(*seed, uint64(i))), ports: ports, lost: i % 2} //nolint:gosec // an index
			if err := compareSnapshot(t, m, outcomes); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(outcomes)
	logOutcomes(t, outcomes)
}

// logOutcomes logs how often each outcome was seen.
func logOutcomes(t *testing.T, outcomes <-chan string) {
	counts := map[string]int{}
	for outcome := range outcomes {
		counts[outcome]++
	}
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%4d RPCs: %s", counts[outcome], outcome)
	}
}

// comparison compares a client with the walk, on one snapshot.
type comparison struct {
	*testing.T
	maker    *maker
	text     []byte // of the resources
	resolver *resolve.Resolver
	conn     *grpc.ClientConn
}

// targets are the targets of channels, with the names of their listeners.
var targets = map[string]string{
	"xds:///" + service:        "grpc/client/" + service,
	"xds://mesh/" + service:    "xdstp://mesh/envoy.config.listener.v3.Listener/" + service,
	"xds://edge.eu/" + service: "xdstp://edge.eu/shop/" + service,
}

// compareSnapshot makes a snapshot, and compares what four kinds of RPCs get.
func compareSnapshot(t *testing.T, m *maker, outcomes chan<- string) error {
	target := pick(m, slices.Sorted(maps.Keys(targets))...)
	resources := m.resources(targets[target])
	named, texts, err := served(resources)
	if err != nil {
		return err
	}
	management, err := listen(func(kind, name string) *anypb.Any { return named[kind+name] })
	if err != nil {
		return err
	}
	defer management.grpc.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go management.repeat(ctx)
	texts["bootstrap.json"] = channels(management.address)
	c := &comparison{T: t, maker: m}
	c.text, _ = json.MarshalIndent(resources, "", " ") // it is made of what JSON has
	if c.resolver, err = resolver(t.Context(), texts); err != nil {
		return err
	}
	if c.conn, err = connect(texts["bootstrap.json"], target); err != nil {
		return err
	}
	defer c.conn.Close()
	for _, method := range []string{Method, "/shop.Orders/List", "/SHOP.orders/Get", "/pay.Cards/Charge"} {
		rpc := &resolve.RPC{Target: target, Method: method, Headers: c.headers()}
		a, err := c.resolver.Walk(rpc)
		if err != nil {
			return err
		}
		if len(a.Unknown) > 0 {
			outcomes <- "not known"
			continue
		}
		outcomes <- c.send(rpc, a)
	}
	return nil
}

// served returns resources by type and name, as the management server sends them, and their texts, which the walk reads.
func served(resources []object) (named map[string]*anypb.Any, texts map[string][]byte, err error) {
	named, texts = map[string]*anypb.Any{}, map[string][]byte{}
	for i, r := range resources {
		text, err := json.Marshal(r)
		if err != nil {
			return nil, nil, err
		}
		packed := &anypb.Any{}
		if err := protojson.Unmarshal(text, packed); err != nil {
			return nil, nil, fmt.Errorf("%w\n%s", err, text)
		}
		m, err := packed.UnmarshalNew()
		if err != nil {
			return nil, nil, err
		}
		named[packed.GetTypeUrl()+graph.NameOf(m.ProtoReflect())] = packed
		texts[fmt.Sprintf("%d.json", i)] = text
	}
	return named, texts, nil
}

// channels returns a bootstrap with templates.
func channels(address string) []byte {
	text, err := json.Marshal(object{
		"xds_servers": list{object{"server_uri": address, "channel_creds": list{object{"type": "insecure"}}}}, "node": object{"id": "xdslint"},
		"client_default_listener_resource_name_template": "grpc/client/%s",
		"authorities": object{"mesh": object{}, "edge.eu": object{"client_listener_resource_name_template": "xdstp://edge.eu/shop/%s"}},
	})
	if err != nil {
		panic(err) // it is made of strings
	}
	return text
}

// resolver reads the resources as the command does.
func resolver(ctx context.Context, texts map[string][]byte) (*resolve.Resolver, error) {
	input, err := load.Texts(ctx, texts, load.Options{})
	if err != nil {
		return nil, err
	}
	s, err := input.One("resources")
	if err != nil {
		return nil, err
	}
	target, err := dataplane.Parse(dataplanegrpc.Go)
	if err != nil {
		return nil, err
	}
	rejected, err := verdict.Rejected(ctx, s, lint.Config{Rules: rules.Builtin(), Target: target, TargetGiven: true})
	return resolve.New(s, dataplanegrpc.ClientOf(s, target, nil), rejected), err
}

func (c *comparison) headers() (all []resolve.Header) {
	m := c.maker
	for range m.IntN(4) {
		all = append(all, pick(
			m, resolve.Header{"x-env", "prod"}, resolve.Header{"x-env", "Prod"}, resolve.Header{"x-id", "7"}, resolve.Header{"x-tag", "a"}, resolve.Header{"x-tag", "b"},
			resolve.Header{"x-tag-bin", "a"}, resolve.Header{"x-envoy-fault-abort-request", "503"}, resolve.Header{"x-envoy-fault-abort-grpc-request", "8"},
		))
	}
	return all
}

// enough is how many RPCs at most are sent, until each way was seen. None of them is rarer than one in a hundred.
const enough = 20_000

// send sends RPCs until each way of the answer was seen, and each endpoint that RPCs must get to. Each must go one of the ways.
func (c *comparison) send(rpc *resolve.RPC, a *resolve.Answer) (outcome string) {
	ctx, cancel := context.WithTimeout(c.Context(), 5*time.Minute)
	defer cancel()
	for _, h := range rpc.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, h[0], h[1])
	}
	expected := map[string]bool{}
	for i, way := range a.Ways {
		for _, one := range must(i, way) {
			expected[one] = true
		}
	}
	began := time.Now()
	for range enough {
		p := &peer.Peer{}
		err := c.conn.Invoke(ctx, rpc.Method, &emptypb.Empty{}, &emptypb.Empty{}, grpc.Peer(p))
		if ctx.Err() != nil {
			break
		}
		known := false
		for i, way := range a.Ways { // several can look the same
			if went(way, err, p) {
				known = true
				delete(expected, fmt.Sprint(i))
				delete(expected, fmt.Sprint(i, " ", p.Addr))
			}
		}
		if !known && recovering(err) && time.Since(began) < recovery {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		if !known {
			c.differ(rpc, a, fmt.Sprintf("an RPC gets %v from %v", err, p.Addr))
			return "differs"
		}
		if len(expected) == 0 {
			return a.Ways[0].Code + " " + strings.TrimRight(strings.SplitN(a.Ways[0].Message, `"`, 2)[0], " ")
		}
	}
	c.differ(rpc, a, fmt.Sprintf("no RPC gets to %v", slices.Sorted(maps.Keys(expected))))
	return "differs"
}

// recovery is how long a client may take to have a resource again: a management server answers each request, and to a client that has asked for
// more meanwhile, the resources that an answer lacks are removed. A member of an aggregate cluster without endpoints is first in a bad resolver state,
// before its policy says why (sendUpdate of grpc-go's priority policy).
const recovery = time.Minute

func recovering(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "has been removed") || strings.HasSuffix(err.Error(), "bad resolver state"))
}

// must returns what must be seen of a way: that an RPC goes it and, where RPCs go round all endpoints, each of these.
func must(i int, way *resolve.Way) []string {
	all := []string{fmt.Sprint(i)}
	for _, l := range way.Endpoints {
		for _, address := range l.Addresses {
			if way.Policy == "round_robin" || way.Policy == "least_request" {
				all = append(all, fmt.Sprint(i, " ", address))
			}
		}
	}
	return all
}

// went reports whether what an RPC gets from a peer is that of a way.
func went(way *resolve.Way, err error, p *peer.Peer) bool {
	if err != nil {
		inShort := way.Route == "" && strings.Contains(err.Error(), "name resolver error: produced zero addresses") // which can come before the cause
		return codeOf(err) == way.Code && (strings.Contains(err.Error(), way.Message) || inShort)
	}
	return way.Code == "OK" && slices.ContainsFunc(way.Endpoints, func(l resolve.Locality) bool { return p.Addr != nil && slices.Contains(l.Addresses, p.Addr.String()) })
}

// codeOf returns the code of an error as answers have it.
func codeOf(err error) string {
	var b strings.Builder
	for i, c := range status.Code(err).String() {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(c)
	}
	name := strings.ToUpper(b.String())
	if status.Code(err) == codes.Canceled {
		return "CANCELLED"
	}
	return name
}

func (c *comparison) differ(rpc *resolve.RPC, a *resolve.Answer, what string) {
	request, _ := json.Marshal(rpc) // they are made of what JSON has
	walked, _ := json.MarshalIndent(a, "", " ")
	c.Errorf("%s\nRPC %s\nthe walk says %s\n%s", what, request, walked, c.text)
}
