package recorder_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/reference"
)

// TestEnvoyLog: nothing is found in the log of a real Envoy, and what its control plane breaks is, as far as it is logged.
func TestEnvoyLog(t *testing.T) {
	envoytest.Need(t)
	for _, perType := range []bool{false, true} {
		w := newWorld(t)
		streams := envoytest.Streams{PerType: perType}
		shop := func(timeout string) func() {
			return func() { w.store.Set("shop", cluster(t, streams.Source(), "shop", timeout)) }
		}
		shop("1s")()
		w.store.Set("shop", assignment(t, "shop", "8080"))
		envoy, err := envoytest.Serve(w.ctx, streams.Bootstrap(w.addr), ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		defer envoy.Close()
		p, err := http.Post("http://"+envoy.AdminAddress()+"/logging?config=trace", "", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Body.Close()
		w.reset() // what comes before is not in the log
		w.answered(reference.Clusters, shop("2s"))
		w.answered(reference.Clusters, shop("-1s"))
		w.answered(reference.Clusters, shop("3s"))
		w.until("the log", func() bool {
			return regexp.MustCompile(`Sending DiscoveryRequest for \S*Cluster: .* version_info: "4"`).MatchString(envoy.Log())
		})
		log := envoy.Log()
		if found := traced(t, log); found != "" {
			t.Errorf("a stream for each type %t: found %s", perType, found)
		}
		if found := traced(t, regexp.MustCompile(`response_nonce: "\d+"`).ReplaceAllString(log, `response_nonce: "7"`)); found != "protocol/nonce-reused" {
			t.Errorf("a stream for each type %t: found %s, with one nonce for all", perType, found)
		}
		w.end()
	}
}

// traced returns the clauses that are broken in a log, each once.
func traced(t *testing.T, log string) string {
	t.Helper()
	report, _, err := xdslint.Trace(t.Context(), xdslint.Options{}, map[string][]byte{"envoy.log": []byte(log)})
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, d := range report.Diagnostics {
		if id := d.Rule.ID(); !strings.Contains(strings.Join(ids, " "), id) {
			ids = append(ids, id)
		}
	}
	return strings.Join(ids, " ")
}
