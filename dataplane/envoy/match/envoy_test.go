package match_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	bootstrapv3 "github.com/envoyproxy/go-control-plane/envoy/config/bootstrap/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	routerv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/router/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/internal/envoytest"
)

// table is a connection manager with a route table. The routes of a virtual host are RouteMatches in JSON.
type table struct {
	name    string
	manager hcmv3.HttpConnectionManager
	config  routev3.RouteConfiguration
	hosts   []virtualHost
}

type virtualHost struct {
	domains string
	routes  []string
}

var hostTables = []*table{
	{name: "domains", hosts: []virtualHost{
		{"*", nil},
		{"Example.com", nil},
		{"*.example.com", nil},
		{"*-shop.example.com", nil},
		{"*.com", nil},
		{"www.*", nil},
		{"www.example.*", nil},
		{"example.com:8080", nil},
		{"*:8443", nil},
		{"other.org:*", nil},
		{"*star*", nil},
	}},
	{name: "without a default", hosts: []virtualHost{{"example.com", nil}, {"*.example.com", nil}}},
	{name: "ignoring ports", config: routev3.RouteConfiguration{IgnorePortInHostMatching: true}, hosts: []virtualHost{
		{"example.com", nil}, {"example.com:8080", nil}, {"*.example.com", nil}, {"*:8443", nil}, {"[::1]", nil}, {"*", nil},
	}},
	{
		name: "stripping ports", manager: hcmv3.HttpConnectionManager{StripPortMode: &hcmv3.HttpConnectionManager_StripAnyHostPort{StripAnyHostPort: true}},
		hosts: []virtualHost{{"example.com", nil}, {"example.com:8080", nil}, {"*", nil}},
	},
	{name: "stripping dots", manager: hcmv3.HttpConnectionManager{StripTrailingHostDot: true}, hosts: []virtualHost{{"example.com", nil}, {"example.com.", nil}, {"*", nil}}},
}

var routeTables = []*table{
	{name: "paths", hosts: []virtualHost{{"*", []string{
		`{"path": "/exact"}`,
		`{"path": "/Fold", "caseSensitive": false}`,
		`{"prefix": "/never?q"}`,
		`{"pathSeparatedPrefix": "/sep"}`,
		`{"pathSeparatedPrefix": "/sepfold", "caseSensitive": false}`,
		`{"safeRegex": {"regex": "/re/[a-z]+"}}`,
		`{"safeRegex": {"regex": "/tail/.*"}}`,
		`{"prefix": "/tail/x"}`,
		`{"prefix": "/sep"}`,
		`{"prefix": "/sep/x"}`,
		`{"prefix": "/PRE", "caseSensitive": false}`,
		`{"prefix": "/pre"}`,
		`{"connectMatcher": {}}`,
		`{"prefix": "/"}`,
		`{"prefix": ""}`,
		`{"safeRegex": {"regex": ".*"}}`,
		`{"path": "/late"}`,
	}}}},
	{name: "path parameters", config: routev3.RouteConfiguration{IgnorePathParametersInPathMatching: true}, hosts: []virtualHost{{"*", []string{
		`{"path": "/a;b"}`,
		`{"path": "/a"}`,
		`{"prefix": "/b;c"}`,
		`{"pathSeparatedPrefix": "/c"}`,
		`{"prefix": "/t;x"}`,
		`{"pathMatchPolicy": {"name": "t", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "pathTemplate": "/t/{x}"}}}`,
		`{"safeRegex": {"regex": "/b/.*x"}}`,
		`{"prefix": "/t/"}`,
		`{"pathMatchPolicy": {"name": "t", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig", "pathTemplate": "/t/a/*"}}}`,
		`{"prefix": "/b"}`,
	}}}},
	{name: "a connect matcher at last", hosts: []virtualHost{{"*", []string{`{"prefix": "/"}`, `{"connectMatcher": {}}`}}}},
	{name: "headers", hosts: []virtualHost{{"*", []string{
		`{"prefix": "/", "headers": [{"name": "x", "stringMatch": {"exact": "a"}}]}`,
		`{"prefix": "/", "headers": [{"name": "X", "stringMatch": {"exact": "ab", "ignoreCase": true}}]}`,
		`{"prefix": "/", "headers": [{"name": "x", "stringMatch": {"prefix": "b"}}, {"name": "y"}]}`,
		`{"prefix": "/", "headers": [{"name": "x", "rangeMatch": {"start": 5, "end": 10}}]}`,
		`{"prefix": "/inverted", "headers": [{"name": "x", "stringMatch": {"prefix": "b"}, "invertMatch": true}]}`,
		`{"prefix": "/inverted", "headers": [{"name": "y", "stringMatch": {"exact": "a"}, "invertMatch": true, "treatMissingHeaderAsEmpty": true}]}`,
		`{"prefix": "/present", "headers": [{"name": "x", "presentMatch": true, "invertMatch": true}]}`,
		`{"prefix": "/present", "headers": [{"name": "x", "presentMatch": false, "treatMissingHeaderAsEmpty": true}]}`,
		`{"prefix": "/present", "headers": [{"name": "x", "presentMatch": true, "treatMissingHeaderAsEmpty": true}]}`,
		`{"prefix": "/", "headers": [{"name": "x", "stringMatch": {"suffix": "a"}}]}`,
		`{"prefix": "/", "headers": [{"name": ":method", "stringMatch": {"exact": "POST"}}]}`,
		`{"prefix": "/", "headers": [{"name": "x", "stringMatch": {"exact": ""}, "treatMissingHeaderAsEmpty": true}]}`,
	}}}},
	{name: "the rest", hosts: []virtualHost{{"*", []string{
		`{"prefix": "/", "grpc": {}}`,
		`{"prefix": "/", "cookies": [{"name": "c", "stringMatch": {"exact": "a"}}]}`,
		`{"prefix": "/inverted", "cookies": [{"name": "c", "stringMatch": {"prefix": "b"}, "invertMatch": true}]}`,
		`{"prefix": "/", "queryParameters": [{"name": "q", "stringMatch": {"exact": "a"}}]}`,
		`{"prefix": "/", "queryParameters": [{"name": "q", "stringMatch": {"prefix": "a"}}]}`,
		`{"prefix": "/", "queryParameters": [{"name": "Q", "presentMatch": true}]}`,
		`{"prefix": "/no", "queryParameters": [{"name": "q", "presentMatch": false}]}`,
		`{"prefix": "/", "queryParameters": [{"name": "q"}]}`,
		`{"prefix": "/", "tlsContext": {"presented": true}}`,
		`{"prefix": "/half", "runtimeFraction": {"runtimeKey": "k", "defaultValue": {"numerator": 0}}}`,
		`{"prefix": "/all", "runtimeFraction": {"runtimeKey": "l", "defaultValue": {"numerator": 100}}}`,
		`{"prefix": "/", "tlsContext": {"presented": false}}`,
	}}}},
}

// build makes what Envoy is given. Every route answers with its virtual host and its own index.
func (t *table) build() *hcmv3.HttpConnectionManager {
	for i, h := range t.hosts {
		host := &routev3.VirtualHost{Name: h.domains, Domains: []string{h.domains}}
		if len(h.routes) == 0 {
			h.routes = []string{`{"prefix": ""}`, `{"connectMatcher": {}}`}
		}
		for j, text := range h.routes {
			r := &routev3.Route{Match: &routev3.RouteMatch{}, Action: &routev3.Route_DirectResponse{DirectResponse: &routev3.DirectResponseAction{
				Status: 200, Body: &corev3.DataSource{Specifier: &corev3.DataSource_InlineString{InlineString: fmt.Sprintf("%d %d", i, j)}},
			}}}
			must(protojson.Unmarshal([]byte(text), r.GetMatch()))
			host.Routes = append(host.Routes, r)
		}
		t.config.VirtualHosts = append(t.config.VirtualHosts, host)
	}
	m := proto.CloneOf(&t.manager)
	m.StatPrefix, m.Http2ProtocolOptions = "a", &corev3.Http2ProtocolOptions{AllowConnect: true}
	m.UpgradeConfigs = []*hcmv3.HttpConnectionManager_UpgradeConfig{{UpgradeType: "CONNECT"}}
	m.HttpFilters = []*hcmv3.HttpFilter{{Name: "router", ConfigType: &hcmv3.HttpFilter_TypedConfig{TypedConfig: packed(&routerv3.Router{})}}}
	m.RouteSpecifier = &hcmv3.HttpConnectionManager_RouteConfig{RouteConfig: &t.config}
	return m
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func unpacked(a *anypb.Any) proto.Message {
	m, err := a.UnmarshalNew()
	must(err)
	return m
}

func packed(m proto.Message) *anypb.Any {
	a, err := anypb.New(m)
	must(err)
	return a
}

func newListener(name, address string, chains ...*listenerv3.FilterChain) *listenerv3.Listener {
	return &listenerv3.Listener{
		Name: name, FilterChains: chains, StatPrefix: "a",
		Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
			Address: address, PortSpecifier: &corev3.SocketAddress_PortValue{},
		}}},
	}
}

// TestEnvoy asks the real Envoy what the package and its tests say of it.
func TestEnvoy(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var listeners []*listenerv3.Listener
	for _, one := range slices.Concat(hostTables, routeTables) {
		listeners = append(listeners, newListener(one.name, "127.0.0.1", &listenerv3.FilterChain{Filters: []*listenerv3.Filter{{
			Name: "http", ConfigType: &listenerv3.Filter_TypedConfig{TypedConfig: packed(one.build())},
		}}}))
	}
	for _, one := range chainTables {
		listeners = append(listeners, one.build())
	}
	bootstrap, err := protojson.Marshal(&bootstrapv3.Bootstrap{StaticResources: &bootstrapv3.Bootstrap_StaticResources{Listeners: listeners}})
	must(err)
	envoy, err := envoytest.Serve(ctx, string(bootstrap), ".json")
	if err != nil {
		t.Fatal(err)
	}
	defer envoy.Close()
	address := func(t *testing.T, name string) string {
		addr, err := envoy.Addr(ctx, name)
		if err != nil {
			t.Fatal(err)
		}
		return addr
	}
	for _, one := range hostTables {
		t.Run(one.name, func(t *testing.T) { one.tryHosts(t, address(t, one.name)) })
	}
	for _, one := range routeTables {
		t.Run(one.name, func(t *testing.T) { one.tryRoutes(t, address(t, one.name)) })
	}
	for _, one := range chainTables {
		t.Run(one.name, func(t *testing.T) { one.try(t, address(t, one.name)) })
	}
}

// answer is the body of what Envoy says to a request, or else its status.
func answer(t *testing.T, addr string, r request) string {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	must(conn.SetDeadline(time.Now().Add(time.Minute)))
	target := r.path
	if r.method == "CONNECT" {
		target = r.host
	}
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\n", r.method, target, r.host)
	for name, value := range r.headers {
		text += name + ": " + value + "\r\n"
	}
	_, err = io.WriteString(conn, text+"\r\n")
	must(err)
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: "GET"})
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	defer response.Body.Close()
	if text := response.Header.Get("grpc-message"); text != "" {
		return text
	}
	if response.StatusCode != http.StatusOK {
		return response.Status
	}
	body := make([]byte, 100) // a tunnel has no end
	n, _ := response.Body.Read(body)
	return string(body[:n])
}

func (t *table) tryHosts(test *testing.T, addr string) {
	_, port, _ := net.SplitHostPort(addr)
	table := match.Domains[int]{IgnorePort: t.config.GetIgnorePortInHostMatching()}
	for i, h := range t.hosts {
		table.Add(h.domains, i)
	}
	unreachable := map[string]bool{}
	for i, h := range t.hosts {
		unreachable[fmt.Sprintf("%d 0", i)] = table.Unreachable(h.domains)
	}
	for _, host := range []string{
		"example.com", "EXAMPLE.com", "a.example.com", ".example.com", "my-shop.example.com", "-shop.example.com", "x.my-shop.example.com", "example.com:8080",
		"example.com:80", "example.com:" + port, "other.com", "www.example.org", "www.example.com", "www.shop", "www.", "other.org:1", "other.org", "other.org:", "a:8443",
		"example.com.", "example.com.:8080", "a.example.com:8443", "[::1]", "[::1]:8080", "lonestar*", "star*", "example.com:x", "10.0.0.1",
	} {
		want := "404 Not Found"
		if i, ok := table.Find(match.Host(host, &t.manager, 0)); ok {
			want = fmt.Sprintf("%d 0", i)
		}
		got := answer(test, addr, request{method: "GET", host: host, path: "/"})
		if got != want {
			test.Errorf("%s: Envoy says %s, not %s", host, got, want)
		}
		if unreachable[got] {
			test.Errorf("%s comes to %s, which is said to be unreachable", host, got)
		}
	}
}

func (t *table) tryRoutes(test *testing.T, addr string) {
	routes := t.config.GetVirtualHosts()[0].GetRoutes()
	var table match.Routes
	shadowed := map[string]int{}
	for i, r := range routes {
		if by := table.Add(match.NewRoute(r, unpacked)); by >= 0 {
			shadowed[fmt.Sprintf("0 %d", i)] = by
		}
	}
	for _, r := range t.requests() {
		want, got := "404 Not Found", answer(test, addr, r)
		r.parameters = !t.config.GetIgnorePathParametersInPathMatching()
		if i := first(routes, r); i >= 0 {
			want = fmt.Sprintf("0 %d", i)
		}
		if got != want {
			test.Errorf("%+v: Envoy says %s, not %s", r, got, want)
		}
		if by, ok := shadowed[got]; ok {
			test.Errorf("%+v comes to %s, which is said to be shadowed by %d", r, got, by)
		}
		t.checkPairs(test, r)
	}
	if want := map[string]int{"paths": 6, "path parameters": 1}[t.name]; want > 0 && len(shadowed) != want {
		test.Errorf("shadowed are %v", shadowed)
	}
}

// checkPairs holds No and Covers to the request that Envoy has just answered as the reference does.
func (t *table) checkPairs(test *testing.T, r request) {
	for _, a := range t.config.GetVirtualHosts()[0].GetRoutes() {
		for _, b := range t.config.GetVirtualHosts()[0].GetRoutes() {
			x, y := takes(a.GetMatch(), r), takes(b.GetMatch(), r)
			one, other := match.NewRoute(a, unpacked), match.NewRoute(b, unpacked)
			if x && y && one.Meets(other) == match.No || y && !x && one.Covers(other) {
				test.Errorf("%v, %v: %+v", a.GetMatch(), b.GetMatch(), r)
			}
		}
	}
}

func (t *table) requests() []request {
	all := []request{{method: "CONNECT", host: "example.com:80"}}
	add := func(path string, headers ...string) {
		r := request{method: "GET", host: "example.com", path: path, headers: map[string]string{}}
		for _, h := range headers {
			name, value, _ := strings.Cut(h, "=")
			r.headers[name] = value
		}
		all = append(all, r)
	}
	switch t.name {
	case "path parameters":
		for _, path := range []string{"/a", "/a;b", "/a;b?c", "/b;c", "/b/y;x", "/b/yx;x", "/c;d", "/c/d;e", "/cd;e", "/t/x", "/t/x;y", "/t/x/y", "/t;x", "/t;x/y", "/t/a/b", "/"} {
			add(path)
		}
	case "headers":
		for _, path := range []string{"/", "/inverted", "/present"} {
			for _, x := range []string{"", "x=", "x=a", "x=AB", "x=b", "x=ba", "x=7", "x=10", "x=-7"} {
				for _, y := range []string{"", "y=a", "y=b"} {
					add(path, slices.DeleteFunc([]string{x, y}, func(s string) bool { return s == "" })...)
				}
			}
		}
		all = append(all, request{method: "POST", host: "example.com", path: "/", headers: map[string]string{"content-length": "0"}})
	case "the rest":
		for _, path := range []string{"/", "/inverted", "/no", "/half", "/all"} {
			for _, query := range []string{"", "?q=a", "?q=ab&q=a", "?q", "?Q", "?q=", "?x&q=b", "?q=%61"} {
				add(path + query)
			}
			for _, h := range []string{"cookie=c=a", "cookie=d=a; c=a", "cookie=c=b", "cookie=c=", "content-type=application/grpc", "content-type=application/grpc+x", "content-type=application/grpc-web"} {
				add(path, h)
			}
		}
	default:
		for _, path := range []string{
			"/", "/exact", "/exact?q", "/exact/", "/Exact", "/fold", "/FOLD?a", "/never?q", "/never", "/sep", "/sep/", "/sep/x", "/separate", "/sep?x", "/SEPFOLD/a", "/sepFold",
			"/re/a", "/re/", "/re/A", "/re/a?b", "/tail/", "/tail/x", "/tail/x/y", "/pre", "/Prefix", "/late", "/late?x", "//", "/a%2fb",
		} {
			add(path)
		}
	}
	return all
}
