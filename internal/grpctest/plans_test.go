package grpctest

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/plan"
)

// rounds is how often a push goes there and back, unless the machine is so busy that it takes longer than longEnough. Where it loses RPCs by chance, it goes
// on until it has.
const (
	rounds     = 30
	longEnough = 10 * time.Second
)

// TestPlans sends RPCs without a break while a real client gets the examples of the rules about its pushes: bad ones all at once lose some, and
// as the plan says none; neither do good ones.
func TestPlans(t *testing.T) {
	for _, path := range archived(t) {
		archive, err := explain.ReadArchive(path)
		if err != nil {
			t.Fatal(err)
		}
		for example, shows := range claims(archive) {
			name := strings.TrimSuffix(filepath.Base(path), ".txtar") + "/" + example
			old, next := side(t, archive, example+"/old.yaml"), side(t, archive, example+"/new.yaml")
			naive, planned, hasPlan := strings.Cut(shows, "; planned: ")
			t.Run(name, func(t *testing.T) { loses(t, old, next, "", naive) })
			t.Run(name+"/planned", func(t *testing.T) {
				if hasPlan {
					loses(t, old, next, dataplane.GRPC, planned)
				}
			})
			// The plan for Envoy removes clusters after the ACK of the routes. A client can be between the two: it still uses a cluster whose
			// removal has come, or no longer knows the one that an RPC has chosen.
			t.Run(name+"/planned for Envoy", func(t *testing.T) {
				if hasPlan && strings.Contains(name, "removed") {
					loses(t, old, next, dataplane.Envoy, "moment")
				}
			})
		}
	}
}

// itsOwn is in an error that no push avoids, for a moment: grpc-go 1.85 ends its watch of a cluster that its routes left when the last RPC to the cluster
// ends, but an RPC that has just begun with the old routes keeps the cluster selected (OnCommitted of configSelector, and pruneActiveClustersAndPlugins).
const itsOwn = "in XDSConfig"

func archived(t *testing.T) []string {
	paths, err := filepath.Glob("../../testdata/rules/transition/grpc-*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no archives", err)
	}
	return paths
}

// claims returns what the section rpc of an archive says, by example.
func claims(a *txtar.Archive) map[string]string {
	all := map[string]string{}
	for _, f := range a.Files {
		if f.Name != "rpc" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			example, shows, _ := strings.Cut(strings.TrimSpace(line), ": ")
			all[example] = shows
		}
	}
	return all
}

func side(t *testing.T, a *txtar.Archive, name string) *graph.Snapshot {
	for _, f := range a.Files {
		if f.Name == name {
			input, err := load.Texts(t.Context(), map[string][]byte{name: f.Data}, load.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := input.One(name)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

// loses pushes there and back, at once or as the plan for a family says, and compares what RPCs get.
func loses(t *testing.T, old, next *graph.Snapshot, family dataplane.Family, want string) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	p := newPusher(ctx, t, old)
	p.family = cmp.Or(family, dataplane.GRPC)
	stop := p.keepCalling(8)
	for round, began := 0, time.Now(); round < rounds && time.Since(began) < longEnough || want == "Unavailable" && p.lost() == nil; round++ {
		for _, way := range [][2]*graph.Snapshot{{old, next}, {next, old}} {
			made := plan.Make(graph.Diff(way[0], way[1]), plan.Options{Family: cmp.Or(family, dataplane.GRPC)})
			if family == "" && (want == "Unavailable" || way[0] == old) { // the way back of a good push can be a bad one
				p.carryOut(atOnce(made))
			} else {
				for _, phase := range made.Phases {
					p.carryOut(phase)
				}
			}
			p.settle(way[1])
		}
	}
	stop()
	switch err := p.lost(); {
	case want == "none" && err != nil && !strings.Contains(err.Error(), itsOwn):
		t.Errorf("an RPC fails: %v", err)
	case want == "moment" && err != nil && !strings.Contains(err.Error(), "unknown cluster selected for RPC") && !strings.Contains(err.Error(), "has been removed"):
		t.Errorf("an RPC fails: %v", err)
	case want == "Unavailable" && status.Code(err).String() != want:
		t.Errorf("an RPC gets %v", err)
	}
}

// atOnce returns the changes of a plan as one phase.
func atOnce(p *plan.Plan) plan.Phase {
	all := plan.Phase{}
	for _, kind := range plan.Types() {
		one := plan.Send{Kind: kind}
		for _, phase := range p.Phases {
			for _, s := range phase.Send {
				if s.Kind == kind {
					one.Update = append(one.Update, s.Update...)
					one.Remove = append(one.Remove, s.Remove...)
				}
			}
		}
		if len(one.Update)+len(one.Remove) > 0 {
			all.Send = append(all.Send, one)
		}
	}
	return all
}

// pusher is a client whose management server is given phases.
type pusher struct {
	*pushed
	backend *backend
	family  dataplane.Family     // for which the phases are: a client does not ask for what Envoy has in advance
	moved   map[string]*endpoint // addresses by cluster load assignment
	failed  sync.Mutex
	err     error
}

func newPusher(ctx context.Context, t *testing.T, s *graph.Snapshot) *pusher {
	p := &pusher{
		pushed:  &pushed{T: t, ctx: ctx, named: map[string]*anypb.Any{}},
		backend: &backend{server: grpc.NewServer(grpc.UnknownServiceHandler(answer))}, moved: map[string]*endpoint{},
	}
	t.Cleanup(p.backend.server.Stop)
	listener := ""
	for _, r := range s.Resources {
		p.hold(r.Kind, r.Name, r.Message)
		if r.Kind == graph.Listener {
			listener = r.Name
		}
	}
	var err error
	if p.client, err = start(p.serve, listener, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.client.Close)
	if err := p.invoke(); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pusher) serve(kind, name string) *anypb.Any {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.named[kind+name]
}

// hold gives the server a resource. Its endpoints get the address of a backend.
func (p *pusher) hold(kind graph.Kind, name string, m proto.Message) {
	m = proto.Clone(m)
	if load, ok := m.(*endpointv3.ClusterLoadAssignment); ok {
		if p.moved[name] == nil {
			at, err := p.backend.listen()
			if err != nil {
				p.Fatal(err)
			}
			p.moved[name] = at
		}
		for _, l := range load.GetEndpoints() {
			for _, e := range l.GetLbEndpoints() {
				e.GetEndpoint().Address = socket(p.moved[name])
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.named[graph.TypeURL(kind)+name] = pack(m)
}

func (p *pusher) invoke() error {
	return p.client.conn.Invoke(p.ctx, Method, &emptypb.Empty{}, &emptypb.Empty{})
}

// keepCalling sends RPCs side by side until it is stopped.
func (p *pusher) keepCalling(calls int) (stop func()) {
	done := make(chan struct{})
	var all sync.WaitGroup
	for range calls {
		all.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if err := p.invoke(); err != nil && p.ctx.Err() == nil {
					p.failed.Lock()
					p.err = err
					p.failed.Unlock()
				}
			}
		})
	}
	return func() {
		close(done)
		all.Wait()
	}
}

func (p *pusher) lost() error {
	p.failed.Lock()
	defer p.failed.Unlock()
	return p.err
}

// carryOut sends a phase, type by type, and waits for what it waits for.
func (p *pusher) carryOut(phase plan.Phase) {
	for _, s := range phase.Send {
		url := graph.TypeURL(s.Kind)
		for _, u := range s.Update {
			p.hold(s.Kind, u.Name, u.Message)
		}
		p.mu.Lock()
		for _, name := range s.Remove {
			delete(p.named, url+name)
		}
		p.mu.Unlock()
		p.send(url)
	}
	for _, w := range phase.Wait {
		url := graph.TypeURL(w.Kind)
		p.until(func(s *server) bool {
			asks := func(name string) bool { return slices.Contains(s.names[url], name) }
			if w.For == plan.Unsubscribe {
				return !slices.ContainsFunc(w.Names, asks)
			}
			return s.acked[url] == s.sent[url] && (p.family != dataplane.GRPC || !slices.ContainsFunc(w.Names, func(name string) bool { return !asks(name) }))
		})
	}
}

// settle waits until the client asks for what its listener leads to and nothing else, and has all of it.
func (p *pusher) settle(s *graph.Snapshot) {
	want := map[string][]string{}
	var visit func(r *graph.Resource)
	visit = func(r *graph.Resource) {
		url := graph.TypeURL(r.Kind)
		if slices.Contains(want[url], r.Name) {
			return
		}
		want[url] = append(want[url], r.Name)
		for _, e := range s.From(r) {
			if e.To != nil {
				visit(e.To)
			}
		}
	}
	for _, r := range s.All(graph.Listener) {
		visit(r)
	}
	for url, names := range want {
		slices.Sort(names)
		p.until(func(s *server) bool {
			asked := slices.Sorted(slices.Values(s.names[url]))
			return slices.Equal(asked, names) && s.acked[url] == s.sent[url]
		})
	}
}

// send sends what the client has asked for of a type.
func (p *pusher) send(url string) {
	s := p.client.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.send(url, s.own(url), s.nonce()); err != nil {
		p.Fatal(err)
	}
}

func (p *pusher) until(done func(*server) bool) {
	s := p.client.server
	for {
		s.mu.Lock()
		ok := done(s)
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-p.ctx.Done():
			s.mu.Lock()
			defer s.mu.Unlock()
			p.Fatalf("the client asks for %v, and has acknowledged %v of %v", s.names, s.acked, s.sent)
		case <-time.After(time.Millisecond):
		}
	}
}
