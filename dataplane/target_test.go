package dataplane

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/internal/decode/types"
	"github.com/xdslint/xdslint/internal/envoytest"
)

func TestParse(t *testing.T) {
	for _, want := range All() {
		if got, err := Parse(want.String()); err != nil || got != want {
			t.Errorf("Parse(%q): %v, %v", want, got, err)
		}
	}
	if got, err := Parse("grpc-java"); err != nil || got.Plane != "grpc-java" || got.Version == "" {
		t.Errorf("a plane with one version: %v, %v", got, err)
	}
	for _, s := range []string{"", "envoy", "envoy:", "envoy:9.99", ":1.40", "envoy-1.40", "envoy:1.40:x"} {
		if _, err := Parse(s); err == nil || !strings.Contains(err.Error(), "envoy:1.40") {
			t.Errorf("Parse(%q): %v does not name the known targets", s, err)
		}
	}
}

func TestFamilies(t *testing.T) {
	for _, target := range All() {
		if family := target.Family(); family != Envoy && family != GRPC {
			t.Errorf("%s is of the family %q", target, family)
		}
	}
	if got := (Target{"envoy-contrib", "1.40"}).Actor() + " " + (Target{"grpc-go", "1.85"}).Actor(); got != "Envoy grpc-go" {
		t.Errorf("sentences are about %q", got)
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

// TestTablesAreCurrent compares the tables with what the real Envoys report.
func TestTablesAreCurrent(t *testing.T) {
	envoytest.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for _, target := range All() {
		if target.Plane != "envoy" {
			continue
		}
		t.Run(target.String(), func(t *testing.T) {
			got, err := envoytest.Version(target.Version).Table(ctx)
			if err != nil {
				t.Fatal(err)
			}
			file := fmt.Sprintf("builds/envoy-%s.txt", target.Version)
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s is not what Envoy reports: run `make update`", file)
			}
		})
	}
}

func TestLacks(t *testing.T) {
	old, newest, contrib := Target{"envoy", "1.36"}, Target{"envoy", "1.40"}, Target{"envoy-contrib", "1.40"}
	const (
		queuing   = "envoy.config.cluster.v3.Cluster.queuing_policies"
		postgres  = "envoy.extensions.filters.network.postgres_proxy.v3alpha.PostgresProxy"
		exact     = "envoy.config.listener.v3.Listener"
		healthUDP = "envoy.data.core.v3.HealthCheckerType.UDP"
	)
	for _, c := range []struct {
		target Target
		name   protoreflect.FullName
		lacks  bool
	}{
		{old, queuing, true},
		{newest, queuing, false},
		{contrib, queuing, false},
		{old, postgres, true},
		{newest, postgres, true},
		{contrib, postgres, false},
		{newest, postgres + ".stat_prefix", true},
		{old, exact, false},
		{old, healthUDP, true},
		{newest, healthUDP, false},
	} {
		if got := c.target.Lacks(c.name); got != c.lacks {
			t.Errorf("%s lacks %s: %t", c.target, c.name, got)
		}
	}
	if got := old.Since(func(t Target) bool { return !t.Lacks(queuing) }); got != "1.40" {
		t.Errorf("queuing_policies since %q", got)
	}
	if got := newest.Since(func(t Target) bool { return !t.Lacks(postgres) }); got != "" {
		t.Errorf("postgres since %q", got)
	}
}

// TestContribTypesExist checks the contrib file, which is written by hand.
func TestContribTypesExist(t *testing.T) {
	for _, x := range (Target{"envoy-contrib", "1.40"}).build().extensions.byName {
		for _, e := range x {
			for _, url := range e.TypeURLs {
				if _, err := types.Envoy.FindMessageByName(protoreflect.FullName(url)); err != nil {
					t.Errorf("%s: no type %s", e.Name, url)
				}
			}
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		if _, err := read("envoy-1.40.txt"); err != nil {
			b.Fatal(err)
		}
	}
}
