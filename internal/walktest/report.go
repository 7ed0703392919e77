package walktest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/walk"
)

// Report is what a run found.
type Report struct {
	Configurations, Requests, Unknown int
	Rejected                          []string       // what Envoy says about the configurations that it rejects
	Reasons                           map[string]int // of what is not known
	Details                           map[string]int // of the answers, as Envoy logs them
	Disagreements                     []Disagreement
}

// Disagreement is a request about which Envoy and the walk disagree.
type Disagreement struct {
	Configuration string // its seed, or its name
	Request       *walk.Request
	Fields        []string
}

func (d Disagreement) String() string {
	request, _ := json.Marshal(d.Request) // it was made of what JSON has
	return fmt.Sprintf("configuration %s: %s\n  %s", d.Configuration, request, strings.Join(d.Fields, "\n  "))
}

// UnknownShare is the percentage of the requests of which something is not known.
func (r *Report) UnknownShare() float64 {
	return 100 * float64(r.Unknown) / float64(max(r.Requests, 1))
}

// maxUnknown is for how many percent of the requests a walk may leave something open.
const maxUnknown = 2

// Err is an error if Envoy disagrees, or if too much is not known to compare.
func (r *Report) Err() error {
	if len(r.Disagreements) == 0 && r.UnknownShare() <= maxUnknown {
		return nil
	}
	return fmt.Errorf("%d disagreements, and %.2f %% of the requests with something that is not known", len(r.Disagreements), r.UnknownShare())
}

// Summary is the report in two tables, and a list of disagreements.
func (r *Report) Summary() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | |\n|---|---|\n| configurations | %d |\n| requests | %s |\n| disagreements | %d |\n| something is not known | %d (%.2f %%) |\n",
		r.Configurations, thousands(r.Requests), len(r.Disagreements), r.Unknown, r.UnknownShare())
	b.WriteString("\nHow Envoy answered:\n\n| details | requests |\n|---|---|\n")
	for _, name := range byCount(families(r.Details)) {
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, thousands(families(r.Details)[name]))
	}
	b.WriteString("\nWhat is not known:\n\n| field and reason | requests |\n|---|---|\n")
	for _, why := range byCount(r.Reasons) {
		fmt.Fprintf(&b, "| %s | %s |\n", why, thousands(r.Reasons[why]))
	}
	for _, d := range r.Disagreements {
		fmt.Fprintf(&b, "\n- %s\n", d)
	}
	return b.String()
}

// families leaves out what follows the name of a detail.
func families(details map[string]int) map[string]int {
	all := map[string]int{}
	for name, n := range details {
		name, _, _ = strings.Cut(name, "{")
		name, _, _ = strings.Cut(name, "[")
		if name == "-" {
			name = "closed"
		}
		all[name] += n
	}
	return all
}

func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
}

func thousands(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
