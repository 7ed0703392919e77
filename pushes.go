package xdslint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/history"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// notOfSteps are the transition rules that one response cannot show: what they miss may come with the next one, or a
// clause of the protocol says it.
var notOfSteps = []string{"version-not-bumped", "cluster-changed-eds-not-resent", "infinite-warm"}

// clients returns the clients in recordings, if rules about their pushes are selected.
func (l *Linter) clients(ctx context.Context, files []*source.File) ([]*history.Client, error) {
	if !slices.ContainsFunc(l.rules, (*lint.Rule).Transitional) {
		return nil, nil
	}
	files = slices.DeleteFunc(slices.Clone(files), func(f *source.File) bool { return !history.Is(f) }) // a log has no Envoy in it
	parts, err := history.Parts(files)
	if err != nil {
		return nil, err
	}
	return history.Read(ctx, parts)
}

// pushes judges what a client was sent, response by response.
type pushes struct {
	ctx    context.Context
	config lint.Config
	late   []*lint.Rule // about clusters that come after what refers to them
	client *history.Client
	state  *history.State
	now    *graph.Snapshot
	// unsure are the kinds of which it is not known what the client has: it rejected a response, or did not answer.
	unsure map[graph.Kind]bool
	said   map[lint.Key]bool // of the push before, so that what lasts is reported once
	files  []*graph.Resource
	found  []lint.Diagnostic
}

// judgePushes returns the hazards of the pushes to some clients.
func judgePushes(ctx context.Context, clients []*history.Client, config lint.Config, options Options, files []*graph.Resource) (found []lint.Diagnostic) {
	config.Rules = slices.DeleteFunc(slices.Clone(config.Rules), func(r *lint.Rule) bool {
		return !r.Transitional() || slices.Contains(notOfSteps, r.Name)
	})
	if len(config.Rules) == 0 {
		return nil
	}
	late := slices.DeleteFunc(slices.Clone(config.Rules), func(r *lint.Rule) bool { return r.Name != "route-before-cluster" })
	for _, c := range clients {
		if c.Resumed || c.Several || strings.HasPrefix(c.UserAgent, "gRPC") { // the rules are about Envoy
			continue
		}
		now := &graph.Snapshot{Name: c.Title(), NoBootstrap: true, Assumptions: options.Load.Assumptions}
		now.Build()
		p := &pushes{
			ctx: ctx, config: config, late: late, client: c, state: history.NewState(options.Load.Types), now: now, unsure: map[graph.Kind]bool{}, files: files,
		}
		for i, step := range c.Steps {
			p.step(step, step.Stream.Aggregated || c.Alone(i))
		}
		found = append(found, p.found...)
	}
	return found
}

// step goes to the next step, and judges it. certain: it is known what the client had then.
func (p *pushes) step(step *history.Step, certain bool) {
	if step.Response {
		if step.Verdict == history.Accepted {
			delete(p.unsure, step.Kind)
		} else {
			p.unsure[step.Kind] = true
		}
	}
	if step.Verdict == history.Rejected {
		return
	}
	before := p.now
	p.state.Apply(p.ctx, step)
	p.now = before.With(p.state.Resources())
	if !step.Response || !certain || len(p.unsure) > 0 || p.now == before {
		return
	}
	found := p.judge(step, before, p.config.Rules)
	if step.Kind == graph.Cluster {
		if earlier := p.beforeClusters(before); earlier != nil {
			found = append(found, p.judge(step, earlier, p.late)...)
		}
	}
	said := map[lint.Key]bool{}
	for _, d := range found {
		said[d.Key()] = true
		if !p.said[d.Key()] {
			p.found = append(p.found, p.during(d, step))
		}
	}
	p.said = said
}

// judge runs rules on the change from a snapshot to the present one.
func (p *pushes) judge(step *history.Step, before *graph.Snapshot, rules []*lint.Rule) []lint.Diagnostic {
	config := p.config
	config.Rules = rules
	config.Transition = &lint.Transition{
		Changes: graph.Diff(before, p.now),
		Push:    lint.Push{Transport: transport(step.Stream), Versions: lint.Global, Partial: true},
	}
	return lint.Run(p.ctx, []*graph.Snapshot{p.now}, config).Diagnostics
}

func transport(s *history.Stream) lint.Transport {
	switch {
	case s.Aggregated && s.Delta:
		return lint.ADSDelta
	case s.Aggregated:
		return lint.ADSSotW
	case s.Delta:
		return lint.Delta
	}
	return lint.SotW
}

// beforeClusters returns the snapshot before a push without the references to clusters that came too late: those that
// this push adds, and to which the client has been sent references before. It returns nil if there are none.
func (p *pushes) beforeClusters(before *graph.Snapshot) *graph.Snapshot {
	early := map[*graph.Resource]bool{}
	for _, e := range before.References(graph.Cluster) {
		if e.To == nil && e.Target != "" && before.Serves(e.From) && p.now.Pushed(graph.Cluster, e.Target) != nil {
			early[e.From] = true
		}
	}
	if len(early) == 0 {
		return nil
	}
	var resources []*graph.Resource
	for _, r := range before.Resources {
		if early[r] {
			r = p.state.Before(r)
		}
		if r != nil {
			resources = append(resources, r)
		}
	}
	return before.With(resources)
}

// during says of a hazard in which push it is.
func (p *pushes) during(d lint.Diagnostic, step *history.Step) lint.Diagnostic {
	d.Related = append(slices.Clone(d.Related), lint.Related{
		Message:  fmt.Sprintf("in the push at %s to %s", step.Time.UTC().Format("15:04:05.000"), p.client.Title()),
		Resource: fileOf(step.File, p.files),
		Span:     spot(protocol.At{File: step.File, Span: step.Line}, ""),
	})
	return d
}
