package transitions

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
)

// TestPressure: a push can be ended after each of its SetSnapshots, in whatever way, and no request fails.
func TestPressure(t *testing.T) {
	envoytest.Need(t)
	cases, err := Cases(t.Context(), "../../testdata/transitions")
	if err != nil {
		t.Fatal(err)
	}
	var jobs []Job
	var names []string
	for _, c := range cases {
		if *only != "" && !strings.Contains(c.Name, *only) || !envoytest.Thorough() && *only == "" && c.Name != "blue-green" {
			continue
		}
		for i, how := range endings {
			for j, transport := range []lint.Transport{lint.ADSSotW, lint.ADSDelta} {
				for k, rtt := range []time.Duration{NearRTT, 0} {
					if !c.Over(transport) || !envoytest.Thorough() && (i+j)%2 != k {
						continue
					}
					mode := Mode{Planned: true, Push: lint.Push{Transport: transport}, RTT: rtt, Rate: SmallRate}
					jobs = append(jobs, Job{c, mode, pressured(how)})
					names = append(names, fmt.Sprintf("%s/%s/%s/%d", c.Name, how, transport, rtt.Milliseconds()))
				}
			}
		}
	}
	for i, o := range Bench(t.Context(), jobs, envoys, nil) {
		t.Run(names[i], func(t *testing.T) {
			t.Log(o.Result)
			switch {
			case o.Err != nil:
				t.Error(o.Err)
			case o.Result.Err != nil:
				t.Error(o.Result.Err)
			case !o.Case.Allows(o.Result):
				t.Errorf("Envoy should show %s at most, and shows %s", words(o.Case.Unavoidable), words(o.Symptoms()))
			}
		})
	}
}

// NearRTT is what separates an Envoy from a control plane in the same country.
const NearRTT = 30 * time.Millisecond
