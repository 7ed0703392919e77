package walktest

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/envoytest"
)

func TestDraft(t *testing.T) {
	envoytest.Need(t)
	n, _ := strconv.Atoi(os.Getenv("N"))
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	q, _ := strconv.Atoi(os.Getenv("Q"))
	r, err := Run(t.Context(), Options{Configurations: n, Requests: q, Seed: uint64(seed)})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d configurations (%d rejected), %d requests, %d unknown, %d disagree", r.Configurations, len(r.Rejected), r.Requests, r.Unknown, len(r.Disagreements))
	for _, x := range r.Rejected {
		t.Log("REJ ", x[max(0, strings.LastIndex(x, "[critical]")):])
	}
	t.Log(r.Reasons, r.Details)
	seen := map[string]int{}
	for _, d := range r.Disagreements {
		key := ""
		for _, f := range d.Fields {
			key += f[:3]
		}
		if seen[key]++; seen[key] < 4 {
			text, _ := json.Marshal(d.Request)
			t.Logf("%d %s\n  %q", d.Seed, text, d.Fields)
		}
	}
	t.Log(seen)
}

func TestShow(t *testing.T) {
	seed, _ := strconv.Atoi(os.Getenv("SEED"))
	c := generate(uint64(seed), map[string]int{}, [2]string{"", ""})
	_ = os.WriteFile("/tmp/walk.json", []byte(c.text(0)), 0o600)
}
