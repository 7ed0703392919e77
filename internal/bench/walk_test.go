package bench

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/walk"
)

// table is a bootstrap whose listener has many routes: exact paths, prefixes, regular expressions and headers. Envoy answers all of them itself.
func table(routes int) string {
	var text strings.Builder
	text.WriteString(`static_resources:
  listeners:
  - name: main
    address: {socket_address: {address: 127.0.0.1, port_value: 0}}
    filter_chains:
    - filters:
      - name: envoy.filters.network.http_connection_manager
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
          stat_prefix: main
          http_filters: [{name: router, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}]
          route_config:
            virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
`)
	for i := range routes {
		match := []string{"{path: /exact/%d}", "{prefix: /prefix/%d/}", `{safe_regex: {regex: "/regex/%d/[a-z]+"}}`, "{prefix: /header/%d, headers: [{name: x-tenant, string_match: {exact: shop}}]}"}[i%4]
		fmt.Fprintf(&text, "              - {name: r%d, match: %s, direct_response: {status: 200, body: {inline_string: r%[1]d}}}\n", i, fmt.Sprintf(match, i))
	}
	return text.String()
}

// asked is the path of a request that a route of the table takes.
func asked(i int) string {
	return fmt.Sprintf([]string{"/exact/%d", "/prefix/%d/x", "/regex/%d/abc", "/header/%d"}[i%4], i)
}

// BenchmarkWalk follows a thousand requests through 10,000 routes, and sends them to an Envoy one after the other on one connection. The first walk,
// which prepares the table, counts as loading.
func BenchmarkWalk(b *testing.B) {
	const routes, requests = 10_000, 1_000
	text := table(routes)
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		b.Fatal(err)
	}
	snapshot, _, err := linter.Snapshot(b.Context(), xdslint.Texts(map[string][]byte{"envoy.yaml": []byte(text)}))
	if err != nil {
		b.Fatal(err)
	}
	all := make([]*walk.Request, 0, requests)
	host := "shop.example.com"
	for i := range requests {
		path := asked(i * (routes / requests))
		all = append(all, &walk.Request{Method: "GET", Authority: &host, Path: &path, Headers: []walk.Header{{"x-tenant", "shop"}}})
	}
	e, err := envoytest.Serve(b.Context(), text, ".yaml")
	if err != nil {
		b.Fatal(err)
	}
	defer e.Close()
	address, err := e.Addr(b.Context(), "main")
	if err != nil {
		b.Fatal(err)
	}
	var ours, theirs, prepared time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := walk.Walk(snapshot, all[0]); err != nil {
			b.Fatal(err)
		}
		alone := time.Since(began)
		began = time.Now()
		answers, err := walk.Walk(snapshot, all...)
		if err != nil {
			b.Fatal(err)
		}
		prepared += alone
		ours += time.Since(began) - alone
		began = time.Now()
		for i, r := range all {
			if got, want := send(b, address, *r.Path), answers[i].Route; got != want {
				b.Fatalf("%s: Envoy says %q, the walk %q", *r.Path, got, want)
			}
		}
		theirs += time.Since(began)
	}
	n := float64(b.N)
	b.ReportMetric(prepared.Seconds()*1e3/n, "first-ms")
	b.ReportMetric(ours.Seconds()*1e3/n, "walks-ms")
	b.ReportMetric(theirs.Seconds()*1e3/n, "envoy-ms")
	b.ReportMetric(0, "ns/op")
}

// send returns the body with which Envoy answers.
func send(b *testing.B, address, path string) string {
	b.Helper()
	request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://"+address+path, http.NoBody)
	if err != nil {
		b.Fatal(err)
	}
	request.Host = "shop.example.com"
	request.Header.Set("x-tenant", "shop")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		b.Fatal(err)
	}
	return string(body)
}
