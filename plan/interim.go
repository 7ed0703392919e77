package plan

import (
	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
)

// interim adds a step that gives a resource a content between the old and the new one. It comes before the resource's own step.
func (p *planner) interim(own *step, m proto.Message, touch Touch) *step {
	s := &step{Resource: own.Resource, part: early, like: p.altered(own.change.Old, m), update: touched(own.Name, m, touch)}
	p.all = append(p.all, s)
	p.interims[own.Resource] = s
	p.after(s, own, nextPhase)
	return s
}

// provider returns the step by which a resource first has its new content.
func (p *planner) provider(own *step) *step {
	if s := p.interims[own.Resource]; s != nil {
		return s
	}
	return own
}

func touched(name string, m proto.Message, touch Touch) Update {
	return Update{Name: name, Content: Touched, Message: m, Touched: []Touch{touch}}
}

// altered returns a resource with another message, which refers to the same resources.
func (p *planner) altered(r *graph.Resource, m proto.Message) *graph.Resource {
	other := r.As(graph.NameOf(m.ProtoReflect()), m)
	d := decode.NewDecoder(nil)
	d.Open(m)
	other.Contents = d.Contents
	p.targets[other] = p.refers(r)
	return other
}
