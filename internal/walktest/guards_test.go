package walktest

import (
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestGuards: the guards that are said to run are those whose statistics move in the real Envoy, and curl gets through each hole. `make posture`
// compares more.
func TestGuards(t *testing.T) {
	envoytest.Need(t)
	o := Options{Configurations: 20, Requests: 30, Seed: 1}
	if testing.Short() {
		o.Configurations = 10
	}
	report, err := RunGuards(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Disagreements {
		t.Error(d)
	}
	if report.Configurations < o.Configurations*3/4 || len(report.States) < 5 || len(report.Holes) < 2 {
		t.Errorf("not much was compared: %d configurations, %v, %v", report.Configurations, report.States, report.Holes)
	}
}
