package history_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/xdslint/xdslint/internal/history"
)

// event returns a request with some names in a field of the request or of the node's metadata.
func event(names []string, nested bool) []byte {
	list, _ := json.Marshal(names)
	if nested {
		return fmt.Appendf(nil, `{"request":{"node":{"metadata":{"resource_names":%s}},"type_url":"t"}}`, list)
	}
	return fmt.Appendf(nil, `{"request":{"version_info":"1","resource_names":%s,"type_url":"t"}}`, list)
}

func namesOf(t *testing.T, event []byte) []string {
	t.Helper()
	var read struct {
		Request struct {
			Names []string `json:"resource_names"`
		}
	}
	if err := json.Unmarshal(event, &read); err != nil {
		t.Fatal(err)
	}
	return read.Request.Names
}

func TestLists(t *testing.T) {
	var all, others []string
	for i := range 200 {
		all = append(all, fmt.Sprintf(`service-"%d]`, i))
		others = append(others, fmt.Sprintf("other-%d", i))
	}
	var l history.Lists
	for _, names := range [][]string{all, others, all[:3]} {
		l.Keep(event(names, false), names)
	}
	for _, names := range [][]string{all, others} {
		short, got := l.Cut(event(names, false))
		if !slices.Equal(got, names) || !history.IsCut(namesOf(t, short)) {
			t.Errorf("%d names are cut to %s, and are %q", len(names), short, got)
		}
	}
	for _, names := range [][]string{all[:3], all[:199], slices.Concat(all, others)} {
		if short, got := l.Cut(event(names, false)); got != nil {
			t.Errorf("%d names that no event had are cut to %s", len(names), short)
		}
	}
	if short, _ := l.Cut(event(all, true)); history.IsCut(namesOf(t, short)) {
		t.Error("a list in the node is taken for names")
	}
}
