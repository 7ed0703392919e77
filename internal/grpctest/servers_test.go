package grpctest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/xdslint/xdslint/internal/resolve"
)

// TestServers sends RPCs to real servers with generated listeners, from several addresses, and compares what they get with what the walk says.
func TestServers(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	outcomes, gate := make(chan string, rpcsOfServer**snapshots), make(chan struct{}, 8)
	for i := range *snapshots {
		gate <- struct{}{}
		all.Go(func() {
			defer func() { <-gate }()
			m := &maker{Rand: rand.New(rand.NewPCG(*seed, uint64(i)))} //nolint:gosec // an index
			if err := compareServer(t, m, outcomes); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	close(outcomes)
	logOutcomes(t, outcomes)
}

// rpcsOfServer is how many RPCs are compared for each listener.
const rpcsOfServer = 8

const serverListener = "grpc/server/"

func compareServer(t *testing.T, m *maker, outcomes chan<- string) error {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	address := pick(m, netip.MustParseAddrPort("0.0.0.0:8080"), netip.MustParseAddrPort("0.0.0.0:8080"), netip.MustParseAddrPort("10.0.0.1:8080"), netip.MustParseAddrPort("[::]:8080"))
	name := serverListener + address.String()
	resources := m.server(name, address)
	named, texts, err := served(resources)
	if err != nil {
		return err
	}
	texts["bootstrap.json"] = []byte(`{"xds_servers": [{"server_uri": "xds", "channel_creds": [{"type": "insecure"}]}], "server_listener_resource_name_template": "` + serverListener + `%s"}`)
	c := &comparison{T: t, maker: m}
	c.text, _ = json.MarshalIndent(resources, "", " ") // it is made of what JSON has
	if c.resolver, err = resolver(ctx, texts); err != nil {
		return err
	}
	s, err := serve(ctx, name, address, named)
	if err != nil {
		return err
	}
	defer s.stop()
	for range rpcsOfServer {
		to := address
		if address.Addr().IsUnspecified() {
			to = netip.AddrPortFrom(pick(m, addresses...), address.Port())
		}
		from := netip.AddrPortFrom(pick(m, append(addresses, to.Addr())...), pick(m, uint16(1000), 40000))
		rpc := &resolve.RPC{
			Source: from.String(), Destination: to.Addr().String(), Headers: c.headers(),
			Method: pick(m, Method, "/shop.Orders/List", "/SHOP.orders/Get", "/pay.Cards/Charge"), Authority: pick(m, service, "pay.shop:443", "orders.shop"),
		}
		a, err := c.resolver.Walk(rpc)
		if err != nil {
			return err
		}
		outcomes <- c.sendTo(ctx, s, rpc, a, from, to)
	}
	return nil
}

// addresses are those of clients and servers.
var addresses = []netip.Addr{
	netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.9"), netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("192.168.7.7"), netip.MustParseAddr("2001:db8::1"),
}

// sendTo sends RPCs to a server until each way of the answer was seen. Each must go one of the ways.
func (c *comparison) sendTo(ctx context.Context, s *running, rpc *resolve.RPC, a *resolve.Answer, from, to netip.AddrPort) string {
	conn, err := s.connect(from, to, rpc.Authority)
	if err != nil {
		c.Error(err)
		return "differs"
	}
	defer conn.Close()
	for _, h := range rpc.Headers {
		ctx = metadata.AppendToOutgoingContext(ctx, h[0], h[1])
	}
	seen := map[int]bool{}
	for range enough {
		err := conn.Invoke(ctx, rpc.Method, &emptypb.Empty{}, &emptypb.Empty{})
		if ctx.Err() != nil {
			break
		}
		known := false
		for i, way := range a.Ways {
			if gets(way, err) {
				known, seen[i] = true, true
			}
		}
		if !known {
			c.differ(rpc, a, fmt.Sprintf("an RPC gets %v", err))
			return "differs"
		}
		if len(seen) == len(a.Ways) {
			return strings.TrimSpace(a.Ways[0].Code + " " + strings.SplitN(a.Ways[0].Message, `"`, 2)[0])
		}
	}
	c.differ(rpc, a, "not every way was seen")
	return "differs"
}

// gets reports whether an error is that of a way. A connection that is closed does not have the words of the server.
func gets(way *resolve.Way, err error) bool {
	if err == nil {
		return way.Code == "OK"
	}
	closed := way.Code == "UNAVAILABLE" && way.Message == ""
	return codeOf(err) == way.Code && strings.Contains(err.Error(), way.Message) && (!closed || !strings.Contains(err.Error(), "xDS node id"))
}
