package walktest

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/internal/walk"
)

// setting is a file of testdata/walk/settings: parts of a configuration that the generator does not make, and requests.
type setting struct {
	Listener obj                 `yaml:"listener"`
	Manager  obj                 `yaml:"manager"`
	Others   map[string]*setting `yaml:"others"`   // listeners that do not have a port of their own
	Clusters obj                 `yaml:"clusters"` // by name; their endpoints are those of the cluster shop
	Requests []obj               `yaml:"requests"`
	Stats    map[string]int      `yaml:"stats"`   // of Envoy, after the requests
	Unknown  []string            `yaml:"unknown"` // the fields that are not known of some request
}

// TestSettings: the walk says of settings that the generator does not make what Envoy does, or that it is not known.
func TestSettings(t *testing.T) {
	envoytest.Need(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	compareSettings(ctx, t, readSettings(t))
}

// compareSettings compares all settings with one Envoy.
func compareSettings(ctx context.Context, t *testing.T, all map[string]*setting) {
	t.Helper()
	b, err := newBench()
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	names := slices.Sorted(maps.Keys(all))
	c := bootstrapOf(b, all, names)
	e, err := envoytest.Serve(ctx, jsonOf(c), ".json")
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	addresses := map[string]string{}
	for i, l := range c["static_resources"].(obj)["listeners"].(list)[:len(names)] {
		name := names[i]
		if addresses[name], err = e.Addr(ctx, name); err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(addresses[name])
		number, err := strconv.Atoi(port)
		if err != nil {
			t.Fatal(err)
		}
		l.(obj)["address"].(obj)["socket_address"].(obj)["port_value"] = number
	}
	view, err := read(ctx, jsonOf(c))
	if err != nil {
		t.Fatal(err)
	}
	walker := walk.New(view)
	for _, name := range names {
		t.Run(name, func(t *testing.T) { all[name].compare(ctx, t, b, e, walker, name, addresses[name]) })
	}
}

// compare sends the requests, and compares the answers.
func (s *setting) compare(ctx context.Context, t *testing.T, b *bench, e *envoytest.Envoy, walker *walk.Walker, name, address string) {
	var requests []*walk.Request
	var seen []seen
	before := len(e.Log())
	for _, given := range s.Requests {
		r := &walk.Request{}
		if err := json.Unmarshal([]byte(jsonOf(given)), r); err != nil {
			t.Fatal(err)
		}
		r.Listener.Name, r.Source = name, loopback
		got, err := b.send(ctx, address, r)
		if err != nil {
			t.Fatal(err)
		}
		requests, seen = append(requests, r), append(seen, got)
	}
	anonymous(seen)
	log, err := b.logs(ctx, e, before, seen)
	if err != nil {
		t.Fatal(err)
	}
	unknown := map[string]bool{}
	for i, r := range requests {
		seen[i].log = log[seen[i].key]
		a, err := walker.Walk(r)
		if err != nil {
			t.Fatal(err)
		}
		for field := range a.Unknown {
			unknown[field] = true
		}
		if fields := compare(r, a, seen[i]); len(fields) > 0 {
			t.Errorf("%s\n  %s", jsonOf(r), strings.Join(fields, "\n  "))
		}
	}
	for name, want := range s.Stats {
		for got := ""; !strings.HasPrefix(got, fmt.Sprintf("%s: %d\n", name, want)); {
			text, err := e.Admin(ctx, "/stats?filter="+name)
			if err != nil {
				t.Fatalf("%s is %q: %s", name, got, err)
			}
			got = string(text)
		}
	}
	if got := slices.Sorted(maps.Keys(unknown)); !slices.Equal(got, s.Unknown) {
		t.Errorf("not known is %q, not %q", got, s.Unknown)
	}
}

const loopback = "127.0.0.1"

func readSettings(t *testing.T) map[string]*setting {
	paths, err := filepath.Glob("../../testdata/walk/settings/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no settings: %v", err)
	}
	all := map[string]*setting{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s := &setting{}
		if err := yaml.Unmarshal(text, s); err != nil {
			t.Fatalf("%s: %s", path, err)
		}
		for _, r := range s.Requests {
			for field, value := range (obj{"method": "GET", "authority": "shop.test", "path": "/"}) {
				if _, ok := r[field]; !ok {
					r[field] = value
				}
			}
		}
		all[strings.TrimSuffix(filepath.Base(path), ".yaml")] = s
	}
	return all
}

// bootstrapOf puts all settings into one bootstrap, each in a listener of its own.
func bootstrapOf(b *bench, all map[string]*setting, names []string) obj {
	var listeners, others, upstreams list
	for _, name := range clusters {
		upstreams = append(upstreams, upstream(name, b.ports[name], false))
	}
	for _, name := range names {
		s := all[name]
		listeners = append(listeners, s.listener(name))
		for _, other := range slices.Sorted(maps.Keys(s.Others)) {
			others = append(others, s.Others[other].listener(other))
		}
		for _, cluster := range slices.Sorted(maps.Keys(s.Clusters)) {
			made := upstream(cluster, b.ports["shop"], false)
			maps.Copy(made, s.Clusters[cluster].(obj))
			upstreams = append(upstreams, made)
		}
	}
	return obj{"static_resources": obj{"listeners": append(listeners, others...), "clusters": upstreams}}
}

func (s *setting) listener(name string) obj {
	m := &maker{}
	manager := obj{
		"@type":       "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
		"stat_prefix": name, "access_log": list{m.accessLog()},
		"http_filters": list{obj{"name": "router", "typed_config": obj{"@type": filterType + "router.v3.Router"}}},
	}
	maps.Copy(manager, s.Manager)
	listener := obj{
		"name": name, "address": obj{"socket_address": obj{"address": loopback, "port_value": 0}}, "access_log": list{m.accessLog()},
		"filter_chains": list{obj{"filters": list{obj{"name": "http", "typed_config": manager}}}},
	}
	maps.Copy(listener, s.Listener)
	return listener
}
