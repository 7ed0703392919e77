package transitions

import (
	"fmt"
	"slices"
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
	add := func(c *Case, how ending, transport lint.Transport, rtt time.Duration, most int) {
		if c.Over(transport) && strings.Contains(c.Name, *only) {
			mode := Mode{Planned: true, Push: lint.Push{Transport: transport}, RTT: rtt, Rate: SmallRate}
			jobs = append(jobs, Job{c, mode, pressured(how, most)})
			names = append(names, fmt.Sprintf("%s/%s/%s/%d", c.Name, how, transport, rtt.Milliseconds()))
		}
	}
	transports := []lint.Transport{lint.ADSSotW, lint.ADSDelta}
	for _, c := range cases {
		for i, how := range endings {
			switch {
			case !testing.Short():
				for _, transport := range transports {
					add(c, how, transport, NearRTT, all)
					add(c, how, transport, 0, all)
				}
			case c.Name == "blue-green": // up to the phase that sends a listener and its routes
				add(c, how, transports[i%2], NearRTT, 4)
			case c.Name == "cluster-renamed":
				add(c, how, transports[(i+1)%2], NearRTT, all)
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
			case len(harmed(o)) > 0:
				t.Errorf("Envoy shows %s", words(harmed(o)))
			}
		})
	}
}

// harmed lists what went wrong.
func harmed(o Outcome) []string {
	return slices.DeleteFunc(o.Symptoms(), func(s string) bool { return slices.Contains(o.Case.Unavoidable, s) })
}

// all SetSnapshots of a push, and more.
const all = 100

// NearRTT is what separates an Envoy from a control plane in the same country.
const NearRTT = 30 * time.Millisecond
