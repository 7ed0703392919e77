package schema

import (
	"strings"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/check"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "empty-or-missing-file",
	Severity: lint.Error,
	Summary:  "a file that is missing, empty or not readable",
	Links:    []string{"https://github.com/envoyproxy/envoy/issues/36289", "https://github.com/envoyproxy/envoy/issues/41822"},
	Run: lint.EachResource(func(p *lint.Pass, r *graph.Resource) {
		if !has(r, graph.Unreadable) {
			return
		}
		places := byPath(r)
		for _, problem := range r.Problems {
			if problem.Kind == graph.Unreadable {
				unreadable(p, r, problem, places)
			}
		}
	}),
})

func unreadable(p *lint.Pass, r *graph.Resource, problem graph.Problem, places map[string]*graph.Place) {
	d := lint.Diagnostic{Message: problem.Message}
	if r.Kind == graph.File {
		d.Message = "this file cannot be read: " + problem.Message
		d.Rejected = !envoy.ReadAtRuntime(r)
		d.Notes = []string{p.OnReject(r)}
		p.ReportProblem(r, problem, d)
		return
	}
	source := sourceAround(places, problem)
	if source != nil && subscribes(p, source) && pathFault(source.Message.Interface().(*corev3.ConfigSource)).message != "" {
		return // config-source-invalid reports the path
	}
	d.Upstream = doesNotExist(problem.Name)
	d.Help = check.ValueHelp(problem.Name, "if the file is elsewhere on this machine, give that folder with --root")
	d.Rejected = strings.Contains(problem.Message, "does not exist") && source != nil && subscribes(p, source) && envoy.FieldOf(source).FullName() != ldsSource
	d.Notes = []string{p.OnReject(r)}
	if !d.Rejected {
		d.Notes = []string{"envoy --mode validate does not check whether the file exists, a real start does"}
	}
	p.ReportProblem(r, problem, d)
}

// sourceAround returns the config source that names the file of a problem.
func sourceAround(places map[string]*graph.Place, problem graph.Problem) *graph.Place {
	for path := problem.Path.Parent(); path != nil; path = path.Parent() {
		if at := places[path.String()]; at != nil && at.Message.Descriptor().FullName() == "envoy.config.core.v3.ConfigSource" {
			return at
		}
	}
	return nil
}

func doesNotExist(path string) (upstream string) {
	return "paths must refer to an existing path in the system: '" + path + "' does not exist"
}
