package target

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

func TestParse(t *testing.T) {
	for _, want := range All() {
		if got, err := Parse(want.String()); err != nil || got != want {
			t.Errorf("Parse(%q): %v, %v", want, got, err)
		}
	}
	for _, s := range []string{"", "envoy", "envoy:", "envoy:9.99", ":1.40", "envoy-1.40", "envoy:1.40:x"} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), "envoy:1.40") {
			t.Errorf("Parse(%q): %v does not name the known targets", s, err)
		}
	}
}

func TestVersionsAreNumbers(t *testing.T) {
	if slices.Compare(numbers("1.9"), numbers("1.10")) >= 0 {
		t.Error("1.9 is not before 1.10")
	}
}

func TestExtensions(t *testing.T) {
	x := Target{"envoy", "1.40"}.Extensions()
	const router = "envoy.extensions.filters.http.router.v3.Router"
	var categories []string
	for _, e := range x.ByTypeURL(router) {
		categories = append(categories, e.Category)
		if e.Name != "envoy.filters.http.router" {
			t.Errorf("%s has the type of the router", e.Name)
		}
	}
	if want := []string{"envoy.filters.http"}; !slices.Equal(categories, want) {
		t.Errorf("the router is in %v, want %v", categories, want)
	}
	if got := x.ByName("envoy.transport_sockets.tls"); len(got) != 2 {
		t.Errorf("tls: %v, want one for each direction", got)
	}
	if got := x.ByName("envoy.file_access_log"); len(got) != 1 || len(got[0].TypeURLs) != 0 {
		t.Errorf("an old name without a type: %v", got)
	}
	if got := x.ByTypeURL("type.googleapis.com/" + router); got != nil {
		t.Errorf("with prefix: %v", got)
	}
	if c := x.Categories(); len(c) < 50 || !slices.IsSorted(c) || len(c) != len(slices.Compact(slices.Clone(c))) {
		t.Errorf("categories are not sorted and unique: %v", c)
	}
	if got := (Target{"envoy", "9.99"}).Extensions(); got.ByName("envoy.filters.http.router") != nil {
		t.Error("an unknown target holds extensions")
	}
}

// The table must say what the real Envoy says of itself.
func TestTableIsCurrent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	got, err := envoytest.Extensions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("envoy-1.40.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("envoy-1.40.txt is not what Envoy reports: run `make update`")
	}
}

func BenchmarkParse(b *testing.B) {
	text, err := files.ReadFile("envoy-1.40.txt")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		parse(string(text))
	}
}
