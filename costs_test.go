package xdslint_test

import (
	"fmt"
	"io"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/cputime"
	"github.com/xdslint/xdslint/internal/report"
)

// hostile are inputs of about a size that made more of it, by what they did.
var hostile = map[string]func(size int) string{
	"aliases of lists": func(size int) string {
		return fitting(size, func(n int) string {
			repeated := func(item string) string { return strings.Repeat(item, n) }
			return "static_resources:\n  clusters: [&c {name: c, load_assignment: {endpoints: [&e {lb_endpoints: [" + repeated("{},") + "{}]}" +
				repeated(",*e") + "]}}" + repeated(",*c") + "]\n"
		})
	},
	"aliases of unknown fields": func(size int) string {
		return fitting(size, func(n int) string {
			var fields strings.Builder
			for i := range n {
				fmt.Fprintf(&fields, ", unknown_%d: 1", i)
			}
			return "static_resources:\n  clusters: [&a {name: a" + fields.String() + "}" + strings.Repeat(", *a", n) + "]\n"
		})
	},
	"an alias bomb": func(size int) string {
		n := size / 10
		return "static_resources:\n  clusters: [&c {name: c, load_assignment: {endpoints: [&e {lb_endpoints: [" + strings.Repeat("{},", n) + "{}]}" +
			strings.Repeat(",*e", n) + "]}}" + strings.Repeat(",*c", n) + "]\n"
	},
	"empty clusters": func(size int) string {
		return "static_resources:\n  clusters: [" + strings.Repeat("{},", size/3) + "{}]\n"
	},
	"unknown keys of filters": func(size int) string {
		return "static_resources: {listeners: [{name: l, filter_chains: [{filters: [" + strings.Repeat("{nme: f},", size/9) + "{name: f}]}]}]}\n"
	},
	"unknown keys of redirects": func(size int) string {
		return routes(size/90, func(i int) string {
			return fmt.Sprintf("match: {path: /%d}, redirect: {path_redirekt: /, path_redirect: /%[1]d}", i)
		})
	},
	"long names": func(size int) string {
		name := strings.Repeat("n", size/3)
		return fmt.Sprintf("static_resources:\n  clusters: [{name: %[1]sm, type: EDS, eds_cluster_config: {eds_config: {ads: {}}}}, {name: %[1]s, bogus: 1%[2]s}]\n",
			name, strings.Repeat(", a: 1", size/18))
	},
	"unknown names": func(size int) string {
		var out strings.Builder
		out.WriteString("resources:\n- \"@type\": type.googleapis.com/envoy.config.route.v3.RouteConfiguration\n  name: r\n" +
			"  virtual_hosts:\n  - name: v\n    domains: [\"*\"]\n    routes:\n")
		for i := range size / 220 {
			fmt.Fprintf(&out, "    - {match: {path: /%d}, route: {cluster: catalog-service-production-%06d}}\n", i, i*7919%1_000_000)
		}
		for i := range size / 220 {
			fmt.Fprintf(&out, "- {\"@type\": type.googleapis.com/envoy.config.cluster.v3.Cluster, name: catalog-service-production-%06dx}\n", i*104729%1_000_000)
		}
		return out.String()
	},
	"unknown filters": func(size int) string {
		var out strings.Builder
		out.WriteString("name: l\nfilter_chains:\n- filters:\n  - name: h\n    typed_config:\n" +
			"      \"@type\": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager\n" +
			"      stat_prefix: x\n      route_config:\n        typed_per_filter_config:\n")
		for i := range size / 90 {
			fmt.Fprintf(&out, "          key-%d: {\"@type\": type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy}\n", i)
		}
		return "\"@type\": type.googleapis.com/envoy.config.listener.v3.Listener\n" + out.String()
	},
	"comments": func(size int) string {
		return strings.Repeat("# xdslint:ignore=route -- why\n", size/31) + "static_resources: {}\n"
	},
	"one line":   func(size int) string { return oneLine(size / 90) },
	"NUL":        func(size int) string { return strings.Repeat("\x00", size) },
	"line feeds": func(size int) string { return strings.Repeat("\n", size) },
}

// fitting returns the largest text whose aliases fit a size, with a comment that fills it.
func fitting(size int, text func(n int) string) string {
	n := 1
	for (n+1)*(n+1)*(n+1)*2 < size {
		n++
	}
	made := text(n)
	return made + "#" + strings.Repeat("x", max(0, size-len(made)))
}

func oneLine(clusters int) string {
	var out strings.Builder
	for i := range clusters {
		fmt.Fprintf(&out, `, {"name": "c%d", "connect_timeout": "1s", "type": "STATIC", "bogus": 1}`, i)
	}
	return `{"static_resources": {"clusters": [` + strings.TrimPrefix(out.String(), ", ") + `]}}`
}

func judged(t testing.TB, text string) *xdslint.Report {
	t.Helper()
	linter, err := xdslint.New(xdslint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := linter.Lint(t.Context(), xdslint.Texts(map[string][]byte{"a.yaml": []byte(text)}))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	total := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(total)
	before := total[0].Value.Uint64()
	f()
	metrics.Read(total)
	return total[0].Value.Uint64() - before
}

// costSizes are the sizes of the inputs whose costs are measured.
func costSizes() []int {
	sizes := []int{1 << 10, 50 << 10, 1 << 20}
	if testing.Short() {
		sizes = sizes[:2]
	}
	return sizes
}

// TestCosts: an input costs no more memory than docs/server.md says, whatever is in it: 2 KB for each byte, and 200 MB
// for findings. Neither do its reports.
func TestCosts(t *testing.T) {
	for name, text := range hostile {
		for _, size := range costSizes() {
			input, limit := text(size), uint64(2<<10*size+200<<20)
			var r *xdslint.Report
			if n := allocated(func() { r = judged(t, input) }); n > limit {
				t.Errorf("%s of %d bytes: it takes %d MB, which is more than %d MB", name, len(input), n>>20, limit>>20)
			}
			for _, format := range report.Names() {
				if n := allocated(func() { _ = r.Write(io.Discard, format) }); n > limit {
					t.Errorf("%s of %d bytes as %s: it takes %d MB, which is more than %d MB", name, len(input), format, n>>20, limit>>20)
				}
			}
		}
	}
}

// TestTimes: an input, and its report, costs no more time than docs/server.md says: 200 times that of an ordinary one.
func TestTimes(t *testing.T) {
	for _, size := range costSizes() {
		usual := ordinary(size)
		for name, text := range hostile {
			input := text(size)
			check := func(text string) func() {
				return func() { _ = judged(t, text).Write(io.Discard, "json") }
			}
			slower(t, fmt.Sprintf("%s of %d bytes", name, len(input)), 200, check(input), check(usual))
		}
	}
}

// slower fails if f takes more than a factor times as long as a peer, each time it is tried.
func slower(t *testing.T, what string, factor time.Duration, f, peer func()) {
	t.Helper()
	took, usual := time.Hour, time.Hour
	for range 10 { // on a busy machine, any of them can take longer
		took, usual = min(took, cputime.Of(t, f)), min(usual, cputime.Of(t, peer))
		if took <= factor*usual {
			return
		}
	}
	t.Errorf("%s: it takes %s, and its peer %s", what, took, usual)
}

// ordinary returns a configuration of about a size, without findings.
func ordinary(size int) string {
	var out strings.Builder
	out.WriteString("static_resources:\n  clusters:\n")
	for i := 0; out.Len() < size; i++ {
		fmt.Fprintf(&out, `  - name: service-%[1]d
    type: STRICT_DNS
    connect_timeout: 1s
    load_assignment:
      cluster_name: service-%[1]d
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: service-%[1]d.shop.example, port_value: 8080}}}
`, i)
	}
	return out.String()
}

// TestTinyBomb: 942 bytes once took 2 GB.
func TestTinyBomb(t *testing.T) {
	if n := allocated(func() { judged(t, hostile["an alias bomb"](900)) }); n > 100<<20 {
		t.Errorf("it takes %d MB", n>>20)
	}
}

// TestOneLineReports: a report about one line takes about as long as one about the same text in many lines. It took three
// hundred times as long.
func TestOneLineReports(t *testing.T) {
	text := oneLine(2000)
	one, many := judged(t, text), judged(t, strings.ReplaceAll(text, ", {", ",\n{"))
	for _, format := range report.Names() {
		write := func(r *xdslint.Report) func() {
			return func() {
				if err := r.Write(io.Discard, format); err != nil {
					t.Error(err)
				}
			}
		}
		slower(t, format+" about one line", 30, write(one), write(many))
	}
}

// TestSharedFile: a file of certificates that many TLS contexts name is parsed a few times, and not for each of them: it
// takes less than half the time of a file for each.
func TestSharedFile(t *testing.T) {
	bundle := strings.Repeat("-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n", 2000)
	contexts := func(files int) func() {
		var clusters strings.Builder
		clusters.WriteString("static_resources:\n  clusters:\n")
		for i := range 200 {
			fmt.Fprintf(&clusters, `  - name: service-%[1]d
    transport_socket:
      name: tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        sni: shop.example
        common_tls_context: {validation_context: {trusted_ca: {filename: ca-%[2]d.pem}}}
`, i, i%files)
		}
		texts := map[string][]byte{"envoy.yaml": []byte(clusters.String())}
		for i := range files {
			texts[fmt.Sprintf("ca-%d.pem", i)] = []byte(bundle)
		}
		linter, err := xdslint.New(xdslint.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			if _, err := linter.Lint(t.Context(), xdslint.Texts(texts)); err != nil {
				t.Error(err)
			}
		}
	}
	one := contexts(1)
	slower(t, "contexts with one file, twice", 1, func() { one(); one() }, contexts(200))
}

func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile {
		input := text(100 << 10)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				_ = judged(b, input).Write(io.Discard, "text")
			}
		})
	}
}
