package walktest

import (
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestWalks: walks agree with the real Envoy. `make walk` compares more.
func TestWalks(t *testing.T) {
	envoytest.Need(t)
	o := Options{Configurations: 24, Requests: 100, Seed: 1}
	if testing.Short() {
		o.Configurations = 8
	}
	report, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Disagreements {
		t.Error(d)
	}
	if report.UnknownShare() > 3 { // in few configurations, one counts much
		t.Errorf("of %.1f %% of the requests, something is not known: %v", report.UnknownShare(), report.Reasons)
	}
	if report.Configurations < o.Configurations*3/4 || report.Details["via_upstream"] < report.Requests/4 {
		t.Errorf("not much was compared: %d configurations, %v", report.Configurations, report.Details)
	}
}
