package walktest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
)

// TestElsewhere: walks agree with the real Envoy about configurations that the generator does not make.
func TestElsewhere(t *testing.T) {
	envoytest.Need(t)
	texts := map[string]string{}
	for _, pattern := range []string{"../../testdata/walk/*.yaml", "../difftest/seeds/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if name := filepath.Base(path); name == "extensions.yaml" || name == "points.yaml" {
				continue // what all of its filters do together with what the codec rejects is not modelled
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts[filepath.Base(path)] = string(text)
		}
	}
	report, err := RunElsewhere(t.Context(), texts, Options{Requests: 40, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Disagreements {
		t.Error(d)
	}
	t.Logf("%d configurations, %d requests, of %d something is not known; left out: %q", report.Configurations, report.Requests, report.Unknown, report.Rejected)
	if report.Configurations < 3 || report.Requests < 200 {
		t.Errorf("not much was compared: %d configurations, %d requests", report.Configurations, report.Requests)
	}
}
