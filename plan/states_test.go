package plan_test

import (
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/plan"
)

// held is what a server holds in the course of a plan.
type held map[plan.Resource]proto.Message

func start(s *graph.Snapshot) held {
	h := held{}
	for _, r := range s.Resources {
		if r.Message != nil && r.Delivery == graph.OverXDS && r == s.Pushed(r.Kind, r.Name) {
			h[plan.Resource{Kind: r.Kind, Name: r.Name}] = r.Message
		}
	}
	return h
}

func (h held) apply(t tester, phase plan.Phase) {
	for _, s := range phase.Send {
		for _, u := range s.Update {
			if u.Message == nil {
				t.Errorf("%s %q is sent without a message", s.Kind, u.Name)
			}
			if got := graph.NameOf(u.Message.ProtoReflect()); got != u.Name {
				t.Errorf("%s %q has the message of %q", s.Kind, u.Name, got)
			}
			if u.Content == plan.Touched && len(u.Touched) == 0 {
				t.Errorf("%s %q is touched, and nothing says where", s.Kind, u.Name)
			}
			h[plan.Resource{Kind: s.Kind, Name: u.Name}] = u.Message
		}
		for _, name := range s.Remove {
			at := plan.Resource{Kind: s.Kind, Name: name}
			if h[at] == nil {
				t.Errorf("%s %q is removed, and was not there", s.Kind, name)
			}
			delete(h, at)
		}
	}
}

func (h held) graph() *graph.Snapshot {
	s := &graph.Snapshot{}
	for at, m := range h {
		d := decode.NewDecoder(nil)
		d.Open(m)
		s.Add(&graph.Resource{Kind: at.Kind, Name: at.Name, Message: m, Contents: d.Contents, File: &source.File{}})
	}
	s.Build()
	return s
}

// dangling lists the references to what is not held, as a graph of the messages has them.
func (h held) dangling() []string {
	var names []string
	for _, e := range h.graph().References() {
		if e.To == nil && (e.Kind == graph.Cluster || graph.TypeURL(e.Kind) != "") {
			names = append(names, string(e.From.Kind)+" "+e.From.Name+" → "+string(e.Kind)+" "+e.Target)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// orphans lists the resources that a data plane asks for by name although no resource refers to them.
func (h held) orphans() []plan.Resource {
	s := h.graph()
	var all []plan.Resource
	for _, r := range s.Resources {
		switch r.Kind {
		case graph.RouteConfiguration, graph.ClusterLoadAssignment, graph.Secret, graph.ExtensionConfig:
			if len(s.To(r)) == 0 {
				all = append(all, plan.Resource{Kind: r.Kind, Name: r.Name})
			}
		}
	}
	return all
}

// drains reports whether draining connections can still ask for a resource after the first of these phases: one of them waits for drains, and a
// later one changes or removes the resource.
func drains(phases []plan.Phase, at plan.Resource) bool {
	for i, phase := range phases {
		waits := slices.ContainsFunc(phase.Wait, func(w plan.Wait) bool { return w.For != plan.ACK })
		if waits && slices.ContainsFunc(phases[i+1:], func(p plan.Phase) bool { return sends(p, at) }) {
			return true
		}
	}
	return false
}

// sends reports whether a phase changes or removes a resource.
func sends(phase plan.Phase, at plan.Resource) bool {
	return slices.ContainsFunc(phase.Send, func(s plan.Send) bool {
		return s.Kind == at.Kind && (slices.Contains(s.Remove, at.Name) ||
			slices.ContainsFunc(s.Update, func(u plan.Update) bool { return u.Name == at.Name }))
	})
}

// repointed reports whether a phase gives a resource the content of another one.
func repointed(phases []plan.Phase, at plan.Resource) bool {
	return slices.ContainsFunc(phases, func(p plan.Phase) bool {
		return slices.ContainsFunc(p.Send, func(s plan.Send) bool {
			return s.Kind == at.Kind && slices.ContainsFunc(s.Update, func(u plan.Update) bool { return u.Name == at.Name && u.Content == plan.Touched })
		})
	})
}

// tester is *testing.T or *rapid.T.
type tester interface {
	Helper()
	Errorf(string, ...any)
}

// checkStates: no state between has a dangling reference or an orphan that neither snapshot has, and the last one is the new snapshot but
// for what is touched.
func checkStates(t tester, before, after *graph.Snapshot, made *plan.Plan, opts plan.Options) {
	t.Helper()
	h := start(before)
	known := append(h.dangling(), start(after).dangling()...)
	alone := append(h.orphans(), start(after).orphans()...)
	touched := map[plan.Resource]bool{}
	for i, phase := range made.Phases {
		h.apply(t, phase)
		for _, s := range phase.Send {
			for _, u := range s.Update {
				touched[plan.Resource{Kind: s.Kind, Name: u.Name}] = u.Content == plan.Touched
			}
		}
		for _, name := range h.dangling() {
			if !slices.Contains(known, name) {
				t.Errorf("phase %d leaves %s dangling", i+1, name)
			}
		}
		for _, name := range h.orphans() {
			if !slices.Contains(alone, name) && !drains(made.Phases[i:], name) && !(opts.Repoint && repointed(made.Phases, name)) {
				t.Errorf("phase %d holds %s %q, which nobody asks for", i+1, name.Kind, name.Name)
			}
		}
	}
	want := start(after)
	for at, m := range want {
		switch {
		case h[at] == nil:
			t.Errorf("%s %q is missing in the end", at.Kind, at.Name)
		case !proto.Equal(h[at], m) && !touched[at]:
			t.Errorf("%s %q is not the new one in the end", at.Kind, at.Name)
		}
	}
	for at := range h {
		if want[at] == nil {
			t.Errorf("%s %q is left in the end", at.Kind, at.Name)
		}
	}
}
