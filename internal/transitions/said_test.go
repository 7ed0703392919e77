package transitions

import (
	"testing"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

// TestUnavoidableIsSaid: what a case allows a planned push to break, its plan says beforehand.
func TestUnavoidableIsSaid(t *testing.T) {
	t.Parallel()
	cases, err := Cases(t.Context(), "../../testdata/transitions")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		if len(c.Unavoidable) == 0 {
			continue
		}
		for _, transport := range lint.Transports {
			if !c.Over(transport) {
				continue
			}
			made := plan.Make(graph.Diff(c.Old, c.New), plan.Options{Push: lint.Push{Transport: transport}})
			if hitless, _ := made.Hitless(t.Context(), dataplane.Target{}); hitless {
				t.Errorf("%s over %s shows %s, and its plan says that it is hitless", c.Name, transport, words(c.Unavoidable))
			}
		}
	}
}
