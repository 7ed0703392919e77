package walktest

import (
	"fmt"
	"strings"
)

// GuardReport is what a comparison of guards with the statistics of the real Envoy found.
type GuardReport struct {
	Configurations, Requests int
	Rejected                 []string       // what Envoy says about the configurations that it rejects
	States                   map[string]int // of the guards, by kind
	Holes                    map[string]int // that curl confirmed, by trick
	Disagreements            []string
}

// Summary is the report in tables.
func (r *GuardReport) Summary() string {
	holes := 0
	for _, n := range r.Holes {
		holes += n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| | |\n|---|---|\n| configurations | %d |\n| requests | %s |\n| holes that curl confirmed | %s |\n| disagreements | %d |\n",
		r.Configurations, thousands(r.Requests), thousands(holes), len(r.Disagreements))
	b.WriteString("\n| guard, and what its statistics say | requests |\n|---|---|\n")
	for _, name := range byCount(r.States) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, thousands(r.States[name]))
	}
	b.WriteString("\n| hole | confirmed |\n|---|---|\n")
	for _, name := range byCount(r.Holes) {
		fmt.Fprintf(&b, "| %s | %s |\n", name, thousands(r.Holes[name]))
	}
	return b.String()
}

// Err is an error if Envoy disagrees, with all that it disagrees about.
func (r *GuardReport) Err() error {
	if len(r.Disagreements) == 0 {
		return nil
	}
	return fmt.Errorf("%d disagreements:\n- %s", len(r.Disagreements), strings.Join(r.Disagreements, "\n- "))
}
