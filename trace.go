package xdslint

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recording"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

// nameable are the rules that a configuration can name: those that judge configuration, and the clauses of the protocol.
func nameable() []*lint.Rule { return slices.Concat(rules.All(), protocol.Rules().Rules()) }

// Trace judges recordings of xDS streams, texts by their names, by the clauses of the protocol: the rules of the group
// protocol. If Select names rules of the group transition, these judge each push to an Envoy, response by response.
// Rules, severities, suppressions and the baseline hold as they do for Lint; what the options say about rules of other
// groups and about reading has no effect. unjudged is the number of streams whose beginning is not recorded.
func Trace(ctx context.Context, o Options, recordings map[string][]byte) (report *Report, unjudged int, err error) {
	o.BuiltIn = nameable()
	l, err := New(o)
	if err != nil {
		return nil, 0, err
	}
	l.rules = slices.DeleteFunc(l.rules, func(r *lint.Rule) bool {
		return r.Group != protocol.Group && !aboutSuppressions(r) && (len(o.Select) == 0 || !r.Transitional())
	})
	files := make([]*source.File, 0, len(recordings))
	for _, name := range slices.Sorted(maps.Keys(recordings)) {
		files = append(files, &source.File{Name: name, Text: recordings[name]})
	}
	c := protocol.NewChecker()
	if err := recording.Judge(ctx, files, c); err != nil {
		return nil, 0, err
	}
	clients, err := l.clients(ctx, files)
	if err != nil {
		return nil, 0, err
	}
	l.lint = func(ctx context.Context, snapshots []*graph.Snapshot, config lint.Config) *lint.Result {
		result := &lint.Result{Snapshots: snapshots, Target: config.Target}
		for _, f := range c.Findings() {
			result.Diagnostics = append(result.Diagnostics, diagnostic(f, snapshots[0].Resources))
		}
		result.Diagnostics = append(result.Diagnostics, judgePushes(ctx, clients, config, l.options, snapshots[0].Resources)...)
		lint.Sort(result.Diagnostics)
		return result
	}
	report, err = l.Lint(ctx, Loaded(traced(files)))
	return report, c.Unjudged(), err
}

// traced is an input of recordings: each is a resource, so that comments in it are read.
func traced(files []*source.File) *load.Input {
	s := &graph.Snapshot{}
	in := &load.Input{Snapshots: []*graph.Snapshot{s}}
	for _, f := range files {
		s.Resources = append(s.Resources, &graph.Resource{Kind: graph.File, Name: f.Name, File: f})
		in.Files = append(in.Files, load.FileReport{Path: f.Name, As: load.Recording, Named: true})
	}
	return in
}

// diagnostic makes a finding of a breach.
func diagnostic(f *protocol.Finding, all []*graph.Resource) lint.Diagnostic {
	d := lint.Diagnostic{
		Rule: f.Clause.Rule, Severity: f.Clause.Rule.Severity, Message: f.Message, Resource: fileOf(f.At.File, all), Span: spot(f.At, f.Value),
	}
	if f.Again > 0 {
		d.Notes = []string{fmt.Sprintf("the same holds for %s of the type on this stream", words.Count(f.Again, "later message"))}
	}
	for _, r := range f.Related {
		d.Related = append(d.Related, lint.Related{Message: r.Message, Resource: fileOf(r.At.File, all), Span: spot(r.At, "")})
	}
	return d
}

// fileOf returns the resource that is a file.
func fileOf(f *source.File, all []*graph.Resource) *graph.Resource {
	return all[slices.IndexFunc(all, func(r *graph.Resource) bool { return r.File == f })]
}

// spot returns the place of a value in a line, or else that of the event's name: a line can be very long.
func spot(at protocol.At, value string) source.Span {
	line := at.File.Text[at.Span.Start:at.Span.End]
	for _, text := range []string{value, "request", "response"} {
		if quoted := strconv.Quote(text); text != "" {
			if i := bytes.Index(line, []byte(quoted)); i >= 0 {
				return source.Span{Start: at.Span.Start + i, End: at.Span.Start + i + len(quoted)}
			}
		}
	}
	return at.Span
}
