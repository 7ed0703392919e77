package transitions

import (
	"flag"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
)

// envoys is how many run at once: they mostly wait.
const envoys = 6

var only = flag.String("case", "", "only cases and examples whose names hold this")

// skipped reports whether a test leaves out a case: one that -case does not name, or, if the test is not thorough, two of three.
func skipped(i int, name string) bool {
	if *only != "" {
		return !strings.Contains(name, *only)
	}
	return !envoytest.Thorough() && i%3 != 0
}

// TestTransitions is a short `make transitions`: a plan loses no request, and a plain push loses requests where that is certain.
func TestTransitions(t *testing.T) {
	envoytest.Need(t)
	cases, err := Cases(t.Context(), "../../testdata/transitions")
	if err != nil {
		t.Fatal(err)
	}
	var jobs []Job
	for i, c := range cases {
		if skipped(i, c.Name) {
			continue
		}
		transports := []lint.Transport{lint.ADSSotW, lint.ADSDelta}
		mode := Mode{Planned: true, Push: lint.Push{Transport: transports[i%2]}, RTT: FarRTT, Rate: SmallRate}
		jobs = append(jobs, Job{Case: c, Mode: mode})
		if c.Lossy {
			mode.Planned = false
			jobs = append(jobs, Job{Case: c, Mode: mode})
		}
	}
	for _, o := range Bench(t.Context(), jobs, envoys, nil) {
		t.Run(o.Case.Name+"/"+o.Mode.name(), func(t *testing.T) {
			if o.Err != nil {
				t.Fatal(o.Err)
			}
			t.Log(o.Result)
			switch {
			case !o.Mode.Planned && o.Failed() == 0:
				t.Error("a plain push should lose requests")
			case o.Mode.Planned && !o.Case.Allows(o.Result):
				t.Errorf("with a plan Envoy should show %s at most, and shows %s", words(o.Case.Unavoidable), words(o.Symptoms()))
			}
		})
	}
}
