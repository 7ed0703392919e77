package xdslint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/xdslint/xdslint"
)

// clusters is a bootstrap with n clusters, 40 lines each.
func clusters(n int) string {
	var b strings.Builder
	b.WriteString("static_resources:\n  clusters:\n")
	for i := range n {
		fmt.Fprintf(&b, `  - name: service-%05[1]d
    type: STATIC
    connect_timeout: 1s
    lb_policy: LEAST_REQUEST
    circuit_breakers:
      thresholds:
      - max_connections: 4096
        max_pending_requests: 4096
        max_requests: 4096
        max_retries: 16
    outlier_detection:
      consecutive_5xx: 5
      interval: 10s
      max_ejection_percent: 50
    load_assignment:
      cluster_name: service-%05[1]d
      endpoints:
      - locality:
          region: eu-west-1
          zone: eu-west-1a
        lb_endpoints:
        - endpoint:
            address:
              socket_address:
                address: 10.%[2]d.%[3]d.10
                port_value: 8080
        - endpoint:
            address:
              socket_address:
                address: 10.%[2]d.%[3]d.11
                port_value: 8080
`, i, i>>8, i&255)
	}
	return b.String()
}

// BenchmarkSession lints a bootstrap of 7 MB after one value in it has changed: in a session, and next to it as a linter that has never seen it.
func BenchmarkSession(b *testing.B) {
	text := clusters(10_000)
	l, err := xdslint.New(xdslint.Options{})
	if err != nil {
		b.Fatal(err)
	}
	const old = "connect_timeout: 1s"
	at := len(text)/2 + strings.Index(text[len(text)/2:], old)
	inputs := make([]xdslint.Input, 4)
	for i := range inputs {
		inputs[i] = texts(fmt.Sprintf("%sconnect_timeout: 0.%ds%s", text[:at], 1+i, text[at+len(old):]))
	}
	session := &xdslint.Session{}
	run := func(name string, lint func(xdslint.Input) (*xdslint.Report, error)) {
		b.Run(name, func(b *testing.B) {
			lintOne := func(i int) {
				if _, err := lint(inputs[i%len(inputs)]); err != nil {
					b.Fatal(err)
				}
			}
			lintOne(1) // what a session reads first costs as much as it costs a linter
			for i := 0; b.Loop(); i++ {
				lintOne(i)
			}
		})
	}
	run("new", func(in xdslint.Input) (*xdslint.Report, error) { return l.Lint(b.Context(), in) })
	run("edited", func(in xdslint.Input) (*xdslint.Report, error) { return session.Lint(b.Context(), l, in) })
}
