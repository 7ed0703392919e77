package verdict

import (
	"context"
	"slices"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

// Verdict is a target's verdict on a file.
type Verdict struct {
	Path     string   `json:"path"`
	Target   string   `json:"target"`
	Delivery string   `json:"delivery"` // bootstrap, push or config_dump
	Verdict  string   `json:"verdict"`  // accept or reject
	Reasons  []Reason `json:"reasons"`
	Assumes  []string `json:"assumes"` // what must hold for an accept, and the file does not show: "it is started with --flag"
}

// Reason is a finding for which the target rejects the file. Line and column begin at 1; they are 0 if the file has no text.
type Reason struct {
	Rule     string `json:"rule"`
	Message  string `json:"message"`
	Severity string `json:"severity"` // of the finding that lint reports
	Upstream string `json:"upstream"`
	Field    string `json:"field"`
	Line     int    `json:"line"`
	Column   int    `json:"column"`
}

// The verdicts and deliveries. Each resource in a config_dump is judged as it was delivered to the Envoy that wrote the dump.
const (
	Accept     = "accept"
	Reject     = "reject"
	Bootstrap  = "bootstrap"
	Push       = "push"
	ConfigDump = "config_dump"
)

// Of judges the file of that name in an input for the targets. The input may contain other files only if the file names them.
// Configuration, suppressions and severities have no effect. The config of the run has the rules.
func Of(ctx context.Context, name string, input *load.Input, targets []dataplane.Target, config lint.Config) ([]Verdict, error) {
	var all []Verdict
	for _, t := range targets {
		config.Target = t
		result := lint.Run(ctx, input.Snapshots, config)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		v := Verdict{Path: name, Target: t.String(), Delivery: delivery(input), Verdict: Accept, Reasons: []Reason{}, Assumes: []string{}}
		for _, d := range report.Redacted(result) {
			switch {
			case d.Resource.File.Name != name: // the files that a bootstrap names are not part of the verdict
			case d.Rejected:
				v.Verdict, v.Reasons = Reject, append(v.Reasons, reason(&d))
			case d.Unless != "" && !slices.Contains(v.Assumes, d.Unless):
				v.Assumes = append(v.Assumes, d.Unless)
			}
		}
		if why := notXDS(input, t); why != "" {
			v.Verdict, v.Reasons = Reject, append(v.Reasons, Reason{Rule: "schema/manifest", Severity: lint.Error.String(), Message: "this is not xDS: " + why})
		}
		if needed := extension(name, input); needed != "" && t.Family() == dataplane.Envoy {
			v.Assumes = append(v.Assumes, "its name ends in "+needed)
		}
		if v.Verdict == Reject {
			v.Assumes = []string{}
		}
		all = append(all, v)
		if len(result.Failures) > 0 {
			return all, result.Failures[0]
		}
	}
	return all, nil
}

// Rejected returns the resources of a snapshot that the target of a run rejects, with the first reason for each. Of several reasons, it is not
// known in whose words the target reports them.
func Rejected(ctx context.Context, s *graph.Snapshot, config lint.Config) (map[*graph.Resource]lint.Diagnostic, error) {
	result := lint.Run(ctx, []*graph.Snapshot{s}, config)
	all := map[*graph.Resource]lint.Diagnostic{}
	for _, d := range report.Redacted(result) {
		if !d.Rejected {
			continue
		}
		if first, known := all[d.Resource]; known {
			d, d.Upstream = first, ""
		}
		all[d.Resource] = d
	}
	if err := ctx.Err(); err != nil || len(result.Failures) == 0 {
		return all, err
	}
	return all, result.Failures[0]
}

// notXDS returns why a file is nothing for a target: it is a Kubernetes object of another kind, or the bootstrap of another data plane.
func notXDS(input *load.Input, t dataplane.Target) string {
	switch {
	case len(input.Files) == 1 && len(input.Snapshots) == 0:
		return input.Files[0].Why
	case t.Family() == dataplane.Envoy && holds(input, graph.GRPCBootstrap):
		return "it is a bootstrap of gRPC"
	}
	return ""
}

// extension returns the extension that a bootstrap needs for Envoy to read it as it is written, if it does not have it.
func extension(name string, input *load.Input) string {
	i := slices.IndexFunc(input.Files, func(f load.FileReport) bool { return f.Path == name })
	if i < 0 {
		return ""
	}
	return input.Files[i].Extension
}

func holds(input *load.Input, kind graph.Kind) bool {
	return slices.ContainsFunc(input.Snapshots, func(s *graph.Snapshot) bool {
		return slices.ContainsFunc(s.Resources, func(r *graph.Resource) bool { return r.Kind == kind })
	})
}

func reason(d *lint.Diagnostic) Reason {
	r := Reason{Rule: d.Rule.ID(), Severity: d.Severity.String(), Message: d.Message, Upstream: d.Upstream, Field: d.Path.String()}
	if d.Resource.Kind == graph.Patch {
		r.Field = d.Resource.InObject(d.Path).String()
	}
	if d.Resource.File.Text != nil && !d.Span.IsZero() {
		at := d.Resource.File.Position(d.Span.Start)
		r.Line, r.Column = at.Line, at.Column
	}
	return r
}

// delivery returns how the file reaches a data plane. A file that cannot be parsed counts as a bootstrap unless its content says
// otherwise.
func delivery(input *load.Input) string {
	if slices.ContainsFunc(input.Files, func(f load.FileReport) bool { return f.As == ConfigDump }) {
		return ConfigDump
	}
	if holds(input, graph.Bootstrap) || holds(input, graph.GRPCBootstrap) {
		return Bootstrap
	}
	for _, s := range input.Snapshots {
		for _, r := range s.Resources {
			if r.Kind != graph.File || r.Object != nil {
				return Push
			}
		}
	}
	return Bootstrap
}
