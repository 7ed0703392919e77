package transitions

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"
	"github.com/envoyproxy/go-control-plane/pkg/cache/types"
	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/xdslint/xdslint/admission"
	"github.com/xdslint/xdslint/internal/envoytest"
	"github.com/xdslint/xdslint/lint"
)

var (
	runs = flag.Int("runs", 40, "random defects that TestGateDefects tries")
	seed = flag.Uint64("seed", 1, "of the random defects")
)

// TestGateDefects adds random defects to pushes. What a quarantining gate lets through loses no request, and Envoy applies all of it, also an Envoy
// that starts afterwards.
func TestGateDefects(t *testing.T) {
	envoytest.Need(t)
	if testing.Short() {
		t.Skip("takes a minute")
	}
	cases, err := Cases(t.Context(), "../../testdata/transitions")
	if err != nil {
		t.Fatal(err)
	}
	// Where some requests always fail, the cause of a failure is not known.
	cases = slices.DeleteFunc(cases, func(c *Case) bool { return len(c.Unavoidable) > 0 })
	var jobs []Job
	stories := make([]string, *runs)
	for i := range *runs {
		random := rand.New(rand.NewPCG(*seed, uint64(i)))
		c := cases[random.IntN(len(cases))]
		transport := []lint.Transport{lint.ADSSotW, lint.ADSDelta}[i%2]
		jobs = append(jobs, Job{c, Mode{Planned: true, Push: lint.Push{Transport: transport}, Rate: SmallRate}, func(ctx context.Context, c *Case, m Mode) (result *Result, err error) {
			result, stories[i], err = spoiled(ctx, c, m, random)
			return result, err
		}})
	}
	for i, o := range Bench(t.Context(), jobs, envoys, nil) {
		t.Run(fmt.Sprintf("%d %s", i, o.Case.Name), func(t *testing.T) {
			t.Logf("%s\n%s", stories[i], o.Result)
			if o.Err != nil {
				t.Error(o.Err)
			}
		})
	}
}

// spoiled pushes a snapshot with a defect through a gate, by plan, so that a failed request is the gate's fault. The story says what was done.
func spoiled(ctx context.Context, c *Case, m Mode, random *rand.Rand) (result *Result, story string, err error) {
	push, wire := planned(m)
	r, err := open(ctx, c, m, wire)
	if err != nil {
		return nil, "", err
	}
	defer r.close()
	lines := []string{string(m.Push.Transport)}
	for range 1 + random.IntN(2) {
		lines = append(lines, spoil(random, r.after.pushed))
	}
	gate, err := r.gate(ctx, admission.Options{
		Policy: admission.Quarantine,
		Push: func(ctx context.Context, _ string, snapshot cachev3.ResourceSnapshot) error {
			return push(ctx, r.cp.cache, r.before.pushed, snapshot.(*cachev3.Snapshot))
		},
		Report: func(d admission.Decision) {
			lines = append(lines, string(d.Outcome))
			for _, w := range d.Withheld {
				lines = append(lines, w.String())
			}
		},
	})
	if err != nil {
		return nil, "", err
	}
	ts := targets(r.before, r.after, c.Follow)
	result, err = r.transit(ctx, ts, func() error {
		var blocked *admission.BlockedError
		if err := gate.SetSnapshot(ctx, node, r.after.pushed); !errors.As(err, &blocked) {
			return err
		}
		return nil
	})
	story = strings.Join(lines, "\n")
	if err != nil {
		return result, story, err
	}
	if err := harm(result); err != nil {
		return result, story, err
	}
	if err := r.restart(ctx); err != nil {
		return result, story, err
	}
	certificate, err := r.place.authority.pair("client")
	if err != nil {
		return result, story, err
	}
	if _, lost := sift(ctx, ts, certificate); len(lost) > len(result.Unanswered) {
		err = fmt.Errorf("after a restart: %s", words(lost))
	}
	return result, story, err
}

// spoil puts a defect into a snapshot: it removes a resource that others need, or changes one. Nothing is known of a kind that is not served
// at all, so none loses its last resource.
func spoil(random *rand.Rand, s *cachev3.Snapshot) string {
	for {
		t := types.ResponseType(random.IntN(int(types.UnknownType)))
		items := s.Resources[t].Items
		if len(items) == 0 {
			continue
		}
		name := slices.Sorted(maps.Keys(items))[random.IntN(len(items))]
		kind := shortType(snapshotTypes[t])
		if d := defects[random.IntN(len(defects))]; d.spoils(items, name) {
			s.Resources[t].Version += "-spoiled"
			return fmt.Sprintf("%s: %s %q", d.what, kind, name)
		}
		needed := t == types.Endpoint || t == types.Route || t == types.Secret || t == types.ExtensionConfig
		if needed && len(items) > 1 && random.IntN(2) == 0 {
			delete(items, name)
			s.Resources[t].Version += "-spoiled"
			return fmt.Sprintf("removed: %s %q", kind, name)
		}
	}
}

// defect is what can be wrong with a resource.
type defect struct {
	what  string
	apply func(proto.Message) bool
}

// spoils reports whether the defect could be added to a resource. It changes a copy, since others may hold the resource.
func (d *defect) spoils(items map[string]types.ResourceWithTTL, name string) bool {
	item := items[name]
	item.Resource = proto.Clone(item.Resource)
	if !d.apply(item.Resource) {
		return false
	}
	items[name] = item
	return true
}

// first changes the first message of type M that change can change.
func first[M proto.Message](change func(M) bool) func(proto.Message) bool {
	return func(in proto.Message) (done bool) {
		rewrite(in, func(m proto.Message) {
			if found, ok := m.(M); ok && !done {
				done = change(found)
			}
		})
		return done
	}
}

var defects = []defect{
	{"unknown cluster", first(func(a *routev3.RouteAction) bool {
		a.ClusterSpecifier = &routev3.RouteAction_Cluster{Cluster: "nowhere"}
		return true
	})},
	{"bad regex", first(func(m *routev3.RouteMatch) bool {
		m.PathSpecifier = &routev3.RouteMatch_SafeRegex{SafeRegex: &matcherv3.RegexMatcher{Regex: "/("}}
		return true
	})},
	{"duplicate domains", first(func(r *routev3.RouteConfiguration) bool {
		for _, v := range r.GetVirtualHosts() {
			again := proto.Clone(v).(*routev3.VirtualHost)
			again.Name += "-again"
			r.VirtualHosts = append(r.VirtualHosts, again)
		}
		return len(r.GetVirtualHosts()) > 0
	})},
	{"no time to connect", first(func(c *clusterv3.Cluster) bool {
		c.ConnectTimeout = &durationpb.Duration{}
		return true
	})},
	{"unknown endpoints", first(func(e *clusterv3.Cluster_EdsClusterConfig) bool {
		e.ServiceName = "nowhere"
		return true
	})},
	{"priority too large", first(func(l *endpointv3.LocalityLbEndpoints) bool {
		l.Priority = 200
		return true
	})},
	{"unknown routes", first(func(r *hcmv3.Rds) bool {
		r.RouteConfigName = "nowhere"
		return true
	})},
	{"no filter chains", first(func(l *listenerv3.Listener) bool {
		l.FilterChains, l.DefaultFilterChain = nil, nil
		return true
	})},
}
