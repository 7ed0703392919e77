package prove_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/cputime"
	"github.com/xdslint/xdslint/internal/prove"
)

// large is a bootstrap with many routes of one virtual host, of which one goes elsewhere.
func large(routes, other int) string {
	var b strings.Builder
	for i := range routes {
		to := "shop"
		if i == other {
			to = "cart"
		}
		kind := []string{"prefix", "path"}[i%2]
		fmt.Fprintf(&b, "              - {match: {%s: /team-%d/service-%05d, headers: [{name: x-stage, present_match: %t}]}, route: {cluster: %s}}\n", kind, i%100, i, i%3 == 0, to)
	}
	return fmt.Sprintf(managed, b.String()+"              - {match: {prefix: /}, route: {cluster: shop}}\n")
}

// TestLarge: two tables of 10,000 routes that differ in one are decided in seconds. The limit leaves room for a busy machine.
func TestLarge(t *testing.T) {
	old, now := snapshot(t, large(10_000, -1)), snapshot(t, large(10_000, 7_000))
	var p *prove.Proof
	took := cputime.Of(t, func() { p = prove.Prove(old, now, prove.Options{}) })
	t.Log(took)
	if len(p.Differences) != 1 || *p.Differences[0].Request.Path != "/team-0/service-07000" || len(p.Undecided) > 0 {
		t.Errorf("%d differences, undecided: %v", len(p.Differences), p.Undecided)
	}
	if took > 25*time.Second {
		t.Errorf("it took %s", took)
	}
}
