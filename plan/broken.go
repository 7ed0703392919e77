package plan

import (
	"context"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// Broken returns what is wrong with a snapshot itself, before it is pushed: errors, and dangling references. A pushed snapshot is complete, so a
// missing name is an error, even where lint only presumes one because it may have been given a part. A name that was missing from the snapshot
// before, too, is not reported: the data plane has worked without it. A nil before means that there is no earlier snapshot. Of the configuration,
// Broken uses the target, and whether the user named it.
func Broken(ctx context.Context, s, before *graph.Snapshot, config lint.Config) *lint.Result {
	config.Rules = rules.Builtin()
	result := lint.Run(ctx, []*graph.Snapshot{s}, config)
	missed := map[Resource]bool{}
	if before != nil {
		for _, e := range before.References() {
			if e.To == nil {
				missed[Resource{e.Kind, e.Target}] = true
			}
		}
	}
	type place struct {
		resource *graph.Resource
		field    string
	}
	missing := map[place]bool{}
	for _, e := range s.References() {
		if e.To == nil && !missed[Resource{e.Kind, e.Target}] && !given(before, e) {
			missing[place{e.From, e.Path.String()}] = true
		}
	}
	result.Diagnostics = slices.DeleteFunc(result.Diagnostics, func(d lint.Diagnostic) bool {
		return d.Severity < lint.Error && !(d.Rule.Group == "reference" && d.Severity == lint.Warning && missing[place{d.Resource, d.Path.String()}])
	})
	return result
}

// given reports whether a reference is to a resource in the bootstrap of the snapshot before, which no push removes.
func given(before *graph.Snapshot, e *graph.Edge) bool {
	if before == nil {
		return false
	}
	r := before.Find(e.Kind, graph.Anywhere, e.Target)
	return r != nil && r.Delivery == graph.FromBootstrap
}
