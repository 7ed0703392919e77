package transitions

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

var worlds = flag.Int("worlds", 0, "random transitions that TestRandom tries, from -seed")

// TestRandom searches for transitions that a plan does not know: it changes random configurations at random, and a plan that says that it is hitless loses no request.
func TestRandom(t *testing.T) {
	envoytest.Need(t)
	if *worlds == 0 {
		t.Skip("a search: -worlds 40 -seed 7")
	}
	var jobs []Job
	for i := range *worlds {
		c := randomCase(t, rand.New(rand.NewPCG(*seed, uint64(i))), fmt.Sprint(*seed, ".", i))
		if !strings.Contains(c.Name, *only) {
			continue
		}
		mode := Mode{Planned: true, Push: lint.Push{Transport: one(rand.New(rand.NewPCG(*seed, uint64(i))), lint.Transports...)}, Rate: SmallRate}
		if i%2 == 0 {
			mode.RTT = NearRTT
		}
		jobs = append(jobs, Job{Case: c, Mode: mode})
	}
	announced := 0
	for _, o := range Bench(t.Context(), jobs, envoys, nil) {
		t.Run(o.Case.Name, func(t *testing.T) {
			changes := graph.Diff(o.Case.Old, o.Case.New)
			hitless, reasons := plan.Make(changes, plan.Options{Push: o.Mode.Push}).Hitless(t.Context(), dataplane.Target{})
			t.Log(o)
			switch failed := o.Symptoms(); {
			case o.Err != nil:
				t.Error(o.Err)
			case o.Result.Err != nil:
				t.Error(o.Result.Err)
			case hitless && len(failed) > 0:
				t.Errorf("%s\nEnvoy shows %s", o.Case.Why, words(failed))
			case !hitless:
				announced++
				t.Logf("announced: %s", strings.Join(reasons, "; "))
			}
		})
	}
	t.Logf("%d of %d are not hitless, as their plans say", announced, len(jobs))
}

func randomCase(t *testing.T, r *rand.Rand, name string) *Case {
	t.Helper()
	before := founded(r)
	after := before.clone()
	var story []string
	for range 2 + r.IntN(6) {
		if c := changes[r.IntN(len(changes))]; c.make(r, after) {
			story = append(story, c.name)
		}
	}
	c := &Case{Name: name, Old: snapshotOf(t, before), New: snapshotOf(t, after), About: About{Why: strings.Join(story, ", ")}}
	if r.IntN(2) == 0 {
		c.SlowHealthCheck = 500 * time.Millisecond
	}
	return c
}

func snapshotOf(t *testing.T, e *estate) *graph.Snapshot {
	t.Helper()
	in, err := load.Texts(t.Context(), e.texts(), load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(in.Snapshots) != 1 {
		t.Fatalf("%d snapshots of %v", len(in.Snapshots), e.texts())
	}
	for _, resource := range in.Snapshots[0].Resources {
		if resource.Message == nil || len(resource.Problems) > 0 {
			t.Fatalf("%s %q: %v", resource.Kind, resource.Name, resource.Problems)
		}
	}
	return in.Snapshots[0]
}

// change is a change at random, if the estate has something to change.
type change struct {
	name string
	make func(*rand.Rand, *estate) bool
}

var changes = []change{
	{"listener renamed", func(r *rand.Rand, e *estate) bool {
		one(r, e.Doors...).Name = e.fresh("listener")
		return true
	}},
	{"listener rebuilt", func(r *rand.Rand, e *estate) bool {
		one(r, e.Doors...).Buffer++
		return true
	}},
	{"certificate renamed", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		if d.Secret == "" {
			return false
		}
		d.Secret = e.fresh("secret")
		return true
	}},
	{"filter added", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		if d.Routes == "tcp" {
			return false
		}
		d.Filters = append(d.Filters, e.filter(r))
		return true
	}},
	{"filter removed", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		if len(d.Filters) == 0 {
			return false
		}
		d.Filters = slices.Delete(d.Filters, 0, 1)
		return true
	}},
	{"filter replaced", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		if len(d.Filters) == 0 {
			return false
		}
		d.Filters[0] = e.filter(r)
		return true
	}},
	{"ECDS or not", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		for _, f := range d.Filters {
			if other := map[string]string{"ecds": "mutation", "mutation": "ecds"}[f.Kind]; other != "" {
				f.Kind = other
				return true
			}
		}
		return false
	}},
	{"routes delivered otherwise", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		switch d.Routes {
		case "rds", "inline":
			d.Routes = map[string]string{"rds": "inline", "inline": "rds"}[d.Routes]
		case "scoped":
			if r.IntN(2) == 0 {
				return false
			}
			d.Routes, d.To, d.Scopes = "rds", d.tables()[0], nil
		default:
			return false
		}
		return true
	}},
	{"scope moved", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		if d.Routes != "scoped" {
			return false
		}
		d.Scopes[one(r, slices.Sorted(maps.Keys(d.Scopes))...)].Table = e.someTable(r)
		return true
	}},
	{"scopes renamed", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		if d.Routes != "scoped" {
			return false
		}
		name := one(r, slices.Sorted(maps.Keys(d.Scopes))...)
		d.Scopes[e.fresh("scope")] = d.Scopes[name]
		delete(d.Scopes, name)
		return true
	}},
	{"listeners exchange routes", func(r *rand.Rand, e *estate) bool {
		a, b := one(r, e.Doors...), one(r, e.Doors...)
		if a == b || a.Routes != "rds" || b.Routes != "rds" {
			return false
		}
		a.To, b.To = b.To, a.To
		return true
	}},
	{"table renamed", func(r *rand.Rand, e *estate) bool {
		name := one(r, slices.Sorted(maps.Keys(e.Tables))...)
		fresh := e.fresh("table")
		e.Tables[fresh] = e.Tables[name]
		for _, d := range e.Doors {
			if d.To == name {
				d.To = fresh
			}
			for _, s := range d.Scopes {
				if s.Table == name {
					s.Table = fresh
				}
			}
		}
		return true
	}},
	{"route moved", func(r *rand.Rand, e *estate) bool {
		t := e.Tables[one(r, slices.Sorted(maps.Keys(e.Tables))...)]
		t.Paths[one(r, "/a", "/b", "/")] = e.route(r)
		return true
	}},
	{"all routes moved", func(r *rand.Rand, e *estate) bool {
		t := e.Tables[one(r, slices.Sorted(maps.Keys(e.Tables))...)]
		for _, path := range slices.Sorted(maps.Keys(t.Paths)) {
			t.Paths[path] = e.route(r)
		}
		return true
	}},
	{"cluster renamed", func(r *rand.Rand, e *estate) bool {
		name := one(r, slices.Sorted(maps.Keys(e.Services))...)
		fresh := e.fresh("cluster")
		again := *e.Services[name]
		if r.IntN(2) == 0 && again.Kind != "aggregate" {
			e.Hosts[fresh] = e.Hosts[again.Hosts]
			again.Hosts = fresh
		}
		e.Services[fresh] = &again
		e.replace(name, fresh)
		return true
	}},
	{"clusters exchanged", func(r *rand.Rand, e *estate) bool {
		a, b := one(r, slices.Sorted(maps.Keys(e.Services))...), one(r, slices.Sorted(maps.Keys(e.Services))...)
		if e.Services[a].Kind == "aggregate" || e.Services[b].Kind == "aggregate" {
			return false
		}
		e.replace(a, "x")
		e.replace(b, a)
		e.replace("x", b)
		return a != b
	}},
	{"cluster rebuilt", func(r *rand.Rand, e *estate) bool {
		e.someOf(r).Timeout++
		return true
	}},
	{"discovery changed", func(r *rand.Rand, e *estate) bool {
		s := e.someOf(r)
		if s.Kind == "aggregate" {
			return false
		}
		s.Kind = one(r, "EDS", "STATIC", "STRICT_DNS")
		return true
	}},
	{"service renamed", func(r *rand.Rand, e *estate) bool {
		s := e.someOf(r)
		if s.Kind != "EDS" {
			return false
		}
		fresh := e.fresh("service")
		e.Hosts[fresh] = e.Hosts[s.Hosts]
		s.Hosts = fresh
		return true
	}},
	{"service shared", func(r *rand.Rand, e *estate) bool {
		a, b := e.someOf(r), e.someOf(r)
		if a == b || a.Kind != "EDS" || b.Kind != "EDS" {
			return false
		}
		a.Hosts = b.Hosts
		return true
	}},
	{"endpoints replaced", func(r *rand.Rand, e *estate) bool {
		e.Hosts[one(r, slices.Sorted(maps.Keys(e.Hosts))...)] = e.hosts(r)
		return true
	}},
	{"endpoint added", func(r *rand.Rand, e *estate) bool {
		name := one(r, slices.Sorted(maps.Keys(e.Hosts))...)
		e.Hosts[name] = append(e.Hosts[name], e.hosts(r)...)
		return true
	}},
	{"TLS on or off", func(r *rand.Rand, e *estate) bool {
		s := e.someOf(r)
		switch {
		case s.Kind == "aggregate":
			return false
		case s.CA == "":
			s.CA = e.fresh("ca")
		case r.IntN(2) == 0:
			s.CA = ""
		default:
			s.CA = e.fresh("ca")
		}
		return true
	}},
	{"health checks on or off", func(r *rand.Rand, e *estate) bool {
		s := e.someOf(r)
		s.Checked = !s.Checked && s.Kind != "aggregate"
		return true
	}},
	{"aggregate member replaced", func(r *rand.Rand, e *estate) bool {
		s := e.someOf(r)
		if s.Kind != "aggregate" {
			return false
		}
		s.Members[r.IntN(2)] = e.plain(r)
		return true
	}},
	{"made an aggregate", func(r *rand.Rand, e *estate) bool {
		s := e.someOf(r)
		if s.Kind == "aggregate" {
			return false
		}
		for _, other := range e.Services {
			for _, m := range other.Members {
				if e.Services[m] == s {
					return false
				}
			}
		}
		*s = service{Kind: "aggregate", Timeout: 1, Members: []string{e.plain(r), e.plain(r)}}
		return true
	}},
	{"TCP moved", func(r *rand.Rand, e *estate) bool {
		d := one(r, e.Doors...)
		if d.Routes != "tcp" {
			return false
		}
		d.To = e.someService(r)
		return true
	}},
}

func (e *estate) someOf(r *rand.Rand) *service {
	return e.Services[one(r, slices.Sorted(maps.Keys(e.Services))...)]
}

// replace puts a cluster in the place of another one.
func (e *estate) replace(name, by string) {
	swap := func(at *string) {
		if *at == name {
			*at = by
		}
	}
	for _, t := range e.Tables {
		for _, to := range t.Paths {
			swap(&to.Mirror)
			for i := range to.Clusters {
				swap(&to.Clusters[i])
			}
		}
	}
	for _, s := range e.Services {
		for i := range s.Members {
			swap(&s.Members[i])
		}
	}
	for _, d := range e.Doors {
		for _, f := range d.Filters {
			swap(&f.Cluster)
		}
		if d.Routes == "tcp" {
			swap(&d.To)
		}
	}
}
