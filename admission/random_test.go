package admission_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"github.com/envoyproxy/go-control-plane/pkg/resource/v3"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load/gocp"
	"github.com/xdslint/xdslint/rules"
)

// id is a resource of a snapshot, as "Cluster/shop".
type id string

func idOf(m proto.Message) id {
	return id(string(m.ProtoReflect().Descriptor().Name()) + "/" + cachev3.GetResourceName(m))
}

// world makes a snapshot of a few resources, some of them bad, that refer to each other, or to nothing.
func world(t *rapid.T, label string) []types.Resource {
	var all []types.Resource
	drawn := rapid.IntRange(0, 3)
	for i := range 3 {
		name := fmt.Sprintf("c%d", i)
		switch drawn.Draw(t, label+" cluster") {
		case 0:
			continue
		case 1:
			all = append(all, eds(name))
		case 2:
			all = append(all, slow(eds(name)))
		case 3:
			c := refused(eds(name))
			if rapid.Bool().Draw(t, label+" without endpoints") {
				c = &clusterv3.Cluster{Name: name, ConnectTimeout: slow(eds(name)).ConnectTimeout} // STATIC without endpoints
			}
			all = append(all, c)
		}
	}
	for i := range 3 {
		name := fmt.Sprintf("c%d", i)
		switch port := drawn.Draw(t, label+" endpoints"); port {
		case 0:
		case 1, 2:
			all = append(all, endpoints(name, uint32(port)))
		case 3:
			all = append(all, emptied(endpoints(name, 80)))
		}
	}
	for i := range 3 {
		var targets []string
		for j := range rapid.IntRange(0, 2).Draw(t, label+" hosts") {
			targets = append(targets, fmt.Sprintf("c%d", (i+j+drawn.Draw(t, label+" target"))%4)) // c3 is nowhere
		}
		if drawn.Draw(t, label+" table") == 0 {
			continue
		}
		all = append(all, table(fmt.Sprintf("t%d", i), targets...)) // Envoy rejects two equal hosts
	}
	for i := range 3 {
		if drawn.Draw(t, label+" listener") > 0 {
			port := uint32(8000 + rapid.SampledFrom([]int{i, i, i, 7}).Draw(t, label+" port"))
			all = append(all, listener(fmt.Sprintf("l%d", i), port, fmt.Sprintf("t%d", drawn.Draw(t, label+" table name"))))
		}
	}
	return all
}

// content of what a cache holds.
func content(s cachev3.ResourceSnapshot) map[id]proto.Message {
	made := map[id]proto.Message{}
	for t := range types.UnknownType {
		url, _ := cachev3.GetResponseTypeURL(t)
		for _, r := range s.GetResources(url) {
			made[idOf(r)] = r
		}
	}
	return made
}

func same(a, b map[id]proto.Message) bool {
	return maps.EqualFunc(a, b, func(a, b proto.Message) bool { return proto.Equal(a, b) })
}

// references of a snapshot, by ids: which resource refers to which, and which are requested by name.
func references(t require, s cachev3.ResourceSnapshot) (edges map[id][]id) {
	made, err := gocp.Snapshot(s)
	if err != nil {
		t.Fatal(err)
	}
	edges = map[id][]id{}
	for _, e := range made.References() {
		if url := graph.TypeURL(e.Kind); url != "" {
			to := id(url[strings.LastIndexByte(url, '.')+1:] + "/" + e.Target)
			edges[idOf(e.From.Message)] = append(edges[idOf(e.From.Message)], to)
		}
	}
	return edges
}

type require interface{ Fatal(...any) }

func TestRandomSnapshots(t *testing.T) {
	boot := bootstrap(t)
	rapid.Check(t, func(t *rapid.T) {
		before, after := world(t, "old"), world(t, "new")
		if rapid.Bool().Draw(t, "little changes") { // most of it stays
			after = slices.Clone(before)
			for _, r := range world(t, "change") {
				switch i := slices.IndexFunc(after, func(other types.Resource) bool { return idOf(other) == idOf(r) }); {
				case rapid.IntRange(0, 2).Draw(t, "keep") > 0:
				case i < 0:
					after = append(after, r)
				case rapid.Bool().Draw(t, "remove"):
					after = slices.Delete(after, i, i+1)
				default:
					after[i] = r
				}
			}
		}
		old, next := made(t, "v1", before), made(t, "v2", after)
		cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
		var decisions []admission.Decision
		gate, err := admission.New(cache, admission.Options{
			Rules: rules.Builtin(), Bootstrap: boot, Policy: admission.Quarantine, Deadline: time.Hour,
			Report: func(d admission.Decision) { decisions = append(decisions, d) },
		})
		if err != nil {
			t.Fatal(err)
		}
		set := func(s cachev3.ResourceSnapshot) admission.Decision {
			err := gate.SetSnapshot(context.Background(), node, s)
			d := decisions[len(decisions)-1]
			if (err != nil) != (d.Outcome == admission.Blocked) {
				t.Fatalf("%v, and the outcome is %s", err, d.Outcome)
			}
			return d
		}
		had := map[id]proto.Message{}
		if first := rapid.IntRange(0, 3).Draw(t, "first") == 0; first {
			old = &cachev3.Snapshot{}
		} else {
			if err := cache.SetSnapshot(context.Background(), node, old); err != nil {
				t.Fatal(err)
			}
			had = content(old)
			if d := set(made(t, "v1", before)); d.Outcome != admission.Admitted || len(d.New) > 0 {
				t.Fatalf("the same again: %s, %v", d.Outcome, findings(d))
			}
		}
		given := content(made(t, "", after))
		d := set(next)
		if !same(given, content(next)) {
			t.Fatal("the caller's snapshot has changed")
		}
		out := map[id]proto.Message{}
		var served cachev3.ResourceSnapshot = &cachev3.Snapshot{}
		if s, err := cache.GetSnapshot(node); err == nil {
			served, out = s, content(s)
		}
		t.Logf("%s, new %v, withheld %v", d.Outcome, findings(d), d.Withheld)

		if (len(d.New) == 0) != (d.Outcome == admission.Admitted) || (len(d.Withheld) > 0) != (d.Outcome == admission.Quarantined) {
			t.Fatal("new errors, and what is withheld, go together")
		}
		if d.Outcome == admission.Admitted && !same(out, given) {
			t.Fatal("admitted, and not as it is")
		}
		checkNoNewErrors(t, boot, old, served)
		checkUnrelated(t, d, old, next, out, given)
		checkNames(t, d, old, next, served, had, given, out)
		checkVersions(t, old, next, served)

		again := set(made(t, "v2", after))
		if s, err := cache.GetSnapshot(node); err == nil && !same(content(s), out) {
			t.Fatalf("pushed again, it is decided otherwise: %v", again.Withheld)
		}
		best := made(t, "v3", good())
		if d := set(best); d.Outcome != admission.Admitted {
			t.Fatalf("a good snapshot after it: %s %v", d.Outcome, findings(d))
		}
		if s, err := cache.GetSnapshot(node); err != nil || s != cachev3.ResourceSnapshot(best) {
			t.Fatal("a good snapshot does not go out as it is")
		}
	})
}

// made is a snapshot of messages of its own.
func made(t require, version string, all []types.Resource) *cachev3.Snapshot {
	by := typed{}
	for _, r := range all {
		url := "type.googleapis.com/" + string(r.ProtoReflect().Descriptor().FullName())
		by[url] = append(by[url], proto.Clone(r))
	}
	s, err := cachev3.NewSnapshot(version, by)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// checkNoNewErrors asks another gate, which has not seen the earlier snapshots.
func checkNoNewErrors(t *rapid.T, boot *graph.Snapshot, old, served cachev3.ResourceSnapshot) {
	cache := cachev3.NewSnapshotCache(true, cachev3.IDHash{}, nil)
	_ = cache.SetSnapshot(context.Background(), node, old)
	gate, err := admission.New(cache, admission.Options{Rules: rules.Builtin(), Bootstrap: boot, Deadline: time.Hour, Report: func(d admission.Decision) {
		if len(d.New) > 0 {
			t.Fatalf("new errors go out: %v", findings(d))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	_ = gate.SetSnapshot(context.Background(), node, served)
}

// checkUnrelated: a resource that no chain of references connects with a new error is pushed as it is.
func checkUnrelated(t *rapid.T, d admission.Decision, old, next cachev3.ResourceSnapshot, out, given map[id]proto.Message) {
	parent := map[string]string{}
	var find func(string) string
	find = func(x string) string {
		if p, ok := parent[x]; ok && p != x {
			return find(p)
		}
		return x
	}
	join := func(a, b string) { parent[find(a)] = find(b) }
	for _, s := range []cachev3.ResourceSnapshot{old, next} {
		for from, all := range references(t, s) {
			for _, to := range all {
				join(string(from), string(to))
			}
		}
		for _, r := range s.GetResources(resource.ListenerType) {
			join(string(idOf(r)), portOf(r))
		}
	}
	bad := map[string]bool{}
	for _, f := range d.New {
		bad[find(string(idOf(f.Resource.Message)))] = true
	}
	asked := map[id]bool{}
	for _, all := range references(t, next) {
		for _, name := range all {
			asked[name] = true
		}
	}
	for name := range maps.Keys(merge(out, given)) {
		if out[name] == nil && !asked[name] && !strings.HasPrefix(string(name), "Cluster/") && !strings.HasPrefix(string(name), "Listener/") {
			continue // nobody asks for it anyway
		}
		if !bad[find(string(name))] && !proto.Equal(out[name], given[name]) {
			t.Fatalf("%s has nothing to do with what is wrong, and is withheld", name)
		}
	}
}

func merge(a, b map[id]proto.Message) map[id]proto.Message {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// checkNames: a cache for ADS has every existing name that is requested, and no other.
func checkNames(t *rapid.T, d admission.Decision, old, next, served cachev3.ResourceSnapshot, had, given, out map[id]proto.Message) {
	asked := func(s cachev3.ResourceSnapshot) map[id]bool {
		all := map[id]bool{}
		for _, to := range references(t, s) {
			for _, name := range to {
				all[name] = true
			}
		}
		return all
	}
	before, now := asked(old), asked(served)
	for from, all := range references(t, served) {
		for _, name := range all {
			asIs := had[name] == nil && had[from] != nil && proto.Equal(out[from], had[from]) // it has waited for the name all along
			if out[name] == nil && merge(had, given)[name] != nil && !asIs {
				t.Fatalf("%s is requested and left out", name)
			}
		}
	}
	for name := range out {
		byName := strings.HasPrefix(string(name), "ClusterLoadAssignment/") || strings.HasPrefix(string(name), "RouteConfiguration/")
		orphan := had[name] != nil && !before[name]
		if byName && !now[name] && !orphan && d.Outcome != admission.Admitted {
			t.Fatalf("%s is pushed and not requested", name)
		}
	}
}

// checkVersions: different contents have different versions.
func checkVersions(t *rapid.T, old, next, served cachev3.ResourceSnapshot) {
	for i := range types.UnknownType {
		url, _ := cachev3.GetResponseTypeURL(i)
		of := func(s cachev3.ResourceSnapshot) map[string]types.Resource { return s.GetResources(url) }
		equal := func(a, b cachev3.ResourceSnapshot) bool {
			return maps.EqualFunc(of(a), of(b), func(a, b types.Resource) bool { return proto.Equal(a, b) })
		}
		for _, s := range []cachev3.ResourceSnapshot{old, next} {
			if served.GetVersion(url) == s.GetVersion(url) && !equal(served, s) {
				t.Fatalf("%s goes out as version %q, which is another content", url, s.GetVersion(url))
			}
		}
	}
}

func portOf(r types.Resource) string {
	l, _ := r.(*listenerv3.Listener)
	return fmt.Sprint("port ", l.GetAddress().GetSocketAddress().GetPortValue())
}
