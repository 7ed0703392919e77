package history

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// At returns what a client has been sent up to a time, the zero time for all of it. What it has rejected last is among
// it, as in a config_dump.
func (c *Client) At(ctx context.Context, types graph.Types, at time.Time) []*graph.Resource {
	s := NewState(types)
	rejected := map[graph.Kind]*Step{}
	for _, step := range c.Steps {
		if !at.IsZero() && step.Time.After(at) {
			break
		}
		if step.Verdict == Rejected {
			rejected[step.Kind] = step
			continue
		}
		if step.Response {
			delete(rejected, step.Kind)
		}
		s.Apply(ctx, step)
	}
	for _, kind := range graph.Kinds() {
		if step := rejected[kind]; step != nil {
			s.fail(ctx, step)
		}
	}
	return s.resources
}

// State is what a client has. A resource that is sent again as it was remains the same graph.Resource.
type State struct {
	types     graph.Types
	held      map[key]*held
	resources []*graph.Resource
}

type held struct {
	resource *graph.Resource
	item     item
	before   *graph.Resource // that it has replaced
}

// NewState returns what a client has at first: nothing.
func NewState(types graph.Types) *State { return &State{types: types, held: map[key]*held{}} }

// Resources returns what the client has. What remains keeps its order.
func (s *State) Resources() []*graph.Resource { return slices.Clone(s.resources) }

// Before returns the resource that another one has replaced when it was sent, nil if there was none.
func (s *State) Before(r *graph.Resource) *graph.Resource {
	if h := s.held[key{r.Kind, r.Name}]; h != nil && h.resource == r {
		return h.before
	}
	return nil
}

// Apply makes the change of a step.
func (s *State) Apply(ctx context.Context, step *Step) {
	sent := map[key]bool{}
	for at, r := range s.decode(ctx, step) {
		if r == nil {
			return // ctx has ended
		}
		id := key{r.Kind, step.set[at].name}
		sent[id] = true
		was := s.held[id]
		switch {
		case was == nil:
			s.held[id] = &held{resource: r, item: step.set[at]}
			s.resources = append(s.resources, r)
		case was.resource != r:
			s.resources[slices.Index(s.resources, was.resource)] = r
			s.held[id] = &held{r, step.set[at], was.resource}
		}
	}
	removed := map[*graph.Resource]bool{}
	remove := func(id key) {
		if h := s.held[id]; h != nil && !sent[id] {
			removed[h.resource] = true
			delete(s.held, id)
		}
	}
	for _, name := range step.removed {
		remove(key{step.Kind, name})
	}
	if step.complete {
		for id := range s.held {
			if id.kind == step.Kind {
				remove(id)
			}
		}
	}
	s.resources = slices.DeleteFunc(s.resources, func(r *graph.Resource) bool { return removed[r] })
}

// fail adds the resources of a response that the client has rejected.
func (s *State) fail(ctx context.Context, step *Step) {
	for at, r := range s.decode(ctx, step) {
		if r == nil {
			return
		}
		if h := s.held[key{r.Kind, step.set[at].name}]; h == nil || h.resource != r {
			r.State = graph.Failed
			s.resources = append(s.resources, r)
		}
	}
}

// decode returns the resources of a response: those that the client has, if they are the same.
func (s *State) decode(ctx context.Context, step *Step) []*graph.Resource {
	all := make([]*graph.Resource, len(step.set))
	parallel.Each(ctx, len(all), func() func(int) {
		d := decode.NewDecoder(s.types)
		return func(at int) {
			i := step.set[at]
			if h := s.held[key{i.kind, i.name}]; h != nil && h.same(i, step) {
				all[at] = h.resource
				return
			}
			all[at] = i.resource(d, step)
		}
	})
	return all
}

func (h *held) same(i item, step *Step) bool {
	was := h.resource.File.Text[h.item.body.Start:h.item.body.End]
	return h.item.ttl == i.ttl && bytes.Equal(was, step.File.Text[i.body.Start:i.body.End])
}

func (i item) resource(d *decode.Decoder, step *Step) *graph.Resource {
	read := func() *tree.Node {
		n, _ := syntax.ParseRecord(step.File, i.body) // it was read before, as a part of its line
		return n
	}
	r := &graph.Resource{Kind: i.kind, Name: i.name, Version: i.version, TTL: i.ttl, File: step.File, Text: tree.TextAt(i.body, read)}
	n := read()
	d.Reset()
	d.Format = decode.JSON
	mt := d.Find(n.Get("@type"))
	if mt == nil {
		r.Problems = d.Problems
		return r
	}
	m := mt.New().Interface()
	d.DecodeAny(n, m)
	r.Message, r.Contents, r.Problems = m, d.Contents, d.Problems
	if name := graph.NameOf(m.ProtoReflect()); name != "" {
		r.Name = name
	}
	return r
}
