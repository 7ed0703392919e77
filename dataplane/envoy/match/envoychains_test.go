package match_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	proxyv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/proxy_protocol/v3"
	inspectorv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/listener/tls_inspector/v3"
	directv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/direct_response/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
)

// chainTable is a listener whose filter chains answer with their index. The chains are FilterChainMatches in JSON.
type chainTable struct {
	name     string
	chains   []string
	fallback bool
	hidden   []string // that are unreachable
	message  *listenerv3.Listener
}

var chainTables = []*chainTable{
	{name: "server names", fallback: true, chains: []string{
		`{"serverNames": ["example.com"]}`,
		`{"serverNames": ["*.Example.com"]}`,
		`{"serverNames": ["*.com"]}`,
		`{"serverNames": ["h2.org"], "applicationProtocols": ["h2"]}`,
		`{"serverNames": ["both.org"], "applicationProtocols": ["h2"]}`,
		`{"serverNames": ["both.org"], "applicationProtocols": ["http/1.1"]}`,
		`{"serverNames": ["plain.org"], "transportProtocol": "raw_buffer"}`,
		`{"transportProtocol": "raw_buffer"}`,
	}},
	{name: "no default", chains: []string{`{"serverNames": ["example.com"], "transportProtocol": "tls"}`, `{"transportProtocol": "tls", "applicationProtocols": ["h2"]}`}},
	{name: "addresses", fallback: true, hidden: []string{"chain 0"}, chains: []string{
		`{}`,
		`{"prefixRanges": [{"addressPrefix": "10.0.0.0", "prefixLen": 8}]}`,
		`{"prefixRanges": [{"addressPrefix": "10.1.0.0", "prefixLen": 16}], "serverNames": ["example.com"]}`,
		`{"destinationPort": 443, "prefixRanges": [{"addressPrefix": "10.1.0.0", "prefixLen": 16}]}`,
		`{"sourceType": "EXTERNAL", "sourcePrefixRanges": [{"addressPrefix": "192.0.2.7", "prefixLen": 24}]}`,
		`{"sourceType": "SAME_IP_OR_LOOPBACK", "sourcePorts": [7]}`,
		`{"prefixRanges": [{"addressPrefix": "11.0.0.0", "prefixLen": 8}], "sourcePorts": [7]}`,
		`{"prefixRanges": [{"addressPrefix": "11.0.0.0", "prefixLen": 8}], "directSourcePrefixRanges": [{"addressPrefix": "127.0.0.0", "prefixLen": 8}], "sourcePorts": [8]}`,
	}},
	{name: "halves", fallback: true, hidden: []string{"chain 1", "default"}, chains: []string{
		`{}`,
		`{"prefixRanges": [{"addressPrefix": "10.0.0.0", "prefixLen": 8}]}`,
		`{"prefixRanges": [{"addressPrefix": "10.0.0.0", "prefixLen": 9}, {"addressPrefix": "10.128.0.0", "prefixLen": 9}]}`,
	}},
}

func (c *chainTable) build() *listenerv3.Listener {
	chain := func(m *listenerv3.FilterChainMatch, says string) *listenerv3.FilterChain {
		config := &directv3.Config{Response: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: says}}}
		return &listenerv3.FilterChain{Name: says, FilterChainMatch: m, Filters: []*listenerv3.Filter{
			{Name: "says", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(config)}},
		}}
	}
	c.message = newListener(c.name, "127.0.0.1")
	for i, text := range c.chains {
		m := &listenerv3.FilterChainMatch{}
		must(protojson.Unmarshal([]byte(text), m))
		c.message.FilterChains = append(c.message.FilterChains, chain(m, fmt.Sprint("chain ", i)))
	}
	if c.fallback {
		c.message.DefaultFilterChain = chain(nil, "default")
	}
	for _, config := range []proto.Message{&proxyv3.ProxyProtocol{}, &inspectorv3.TlsInspector{}} {
		c.message.ListenerFilters = append(c.message.ListenerFilters, &listenerv3.ListenerFilter{
			Name: string(config.ProtoReflect().Descriptor().Name()), ConfigType: &listenerv3.ListenerFilter_TypedConfig{TypedConfig: packed(config)},
		})
	}
	return c.message
}

func (c *chainTable) try(t *testing.T, addr string) {
	chains := match.NewChains(c.message)
	for _, conn := range connections() {
		want := "nobody"
		if chain := chains.Take(conn); chain != nil {
			want = chain.GetName()
			_, never := chains.Unreachable(chain)
			if never || chain != c.message.GetDefaultFilterChain() && reachesNot(chains, chain, conn.Destination) {
				t.Errorf("%v comes to %s, which is said to be unreachable", conn, want)
			}
		}
		if got := c.ask(t, addr, conn); got != want {
			t.Errorf("%v: Envoy says %s, not %s", conn, got, want)
		}
	}
	for _, chain := range append(slices.Clone(c.message.GetFilterChains()), c.message.GetDefaultFilterChain()) {
		if chain == nil {
			continue
		}
		if _, never := chains.Unreachable(chain); never != slices.Contains(c.hidden, chain.GetName()) {
			t.Errorf("%s: unreachable: %t", chain.GetName(), never)
		}
	}
}

func connections() (all []match.Connection) {
	base := match.Connection{
		Destination: netip.MustParseAddrPort("10.0.0.1:80"), Transport: "raw_buffer", Direct: netip.MustParseAddr("127.0.0.1"), Source: netip.MustParseAddrPort("198.51.100.1:9"),
	}
	for _, name := range []string{"", "example.com", "EXAMPLE.COM", "a.example.com", "b.a.example.com", "other.com", "com", "h2.org", "both.org", "plain.org", "x.org"} {
		for _, protocols := range [][]string{nil, {"h2"}, {"http/1.1", "h2"}, {"x"}} {
			c := base
			c.ServerName, c.Transport, c.Protocols = name, "tls", protocols
			all = append(all, c)
		}
	}
	for _, to := range []string{"10.0.0.1:80", "10.200.0.1:443", "10.1.0.1:80", "10.1.0.1:443", "10.2.0.1:443", "11.0.0.1:80", "12.0.0.1:80", "[2001:db8::1]:80"} {
		for _, from := range []string{"192.0.2.1:9", "192.0.3.1:7", "127.0.0.1:7", "127.0.0.1:8", "127.0.0.2:7", "12.0.0.1:7", "[2001:db8::1]:7", "[::1]:7"} {
			c := base
			c.Destination, c.Source = netip.MustParseAddrPort(to), netip.MustParseAddrPort(from)
			if c.Destination.Addr().Is4() == c.Source.Addr().Is4() {
				all = append(all, c)
				c.ServerName, c.Transport = "example.com", "tls"
				all = append(all, c)
			}
		}
	}
	return all
}

// ask opens a connection, and returns what the chain that takes it says.
func (c *chainTable) ask(t *testing.T, addr string, to match.Connection) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	must(conn.SetDeadline(time.Now().Add(time.Minute)))
	version := 6
	if to.Source.Addr().Is4() {
		version = 4
	}
	_, err = fmt.Fprintf(conn, "PROXY TCP%d %s %s %d %d\r\n", version, to.Source.Addr(), to.Destination.Addr(), to.Source.Port(), to.Destination.Port())
	must(err)
	client := &recorder{Conn: conn}
	if to.Transport == "tls" {
		_ = tls.Client(client, &tls.Config{ServerName: to.ServerName, NextProtos: to.Protocols, InsecureSkipVerify: true}).Handshake() //nolint:gosec // it fails at the plain answer
	} else if _, err := io.WriteString(conn, "hello, is anybody there?"); err != nil {
		t.Fatal(err)
	}
	_, _ = io.ReadAll(client) // Envoy resets the connection where bytes are left unread
	if client.heard.Len() == 0 {
		return "nobody"
	}
	return client.heard.String()
}

// recorder keeps what is read.
type recorder struct {
	net.Conn
	heard bytes.Buffer
}

func (r *recorder) Read(p []byte) (int, error) {
	n, err := r.Conn.Read(p)
	r.heard.Write(p[:n])
	return n, err
}
