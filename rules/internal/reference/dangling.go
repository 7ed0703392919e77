package reference

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

const (
	fieldRDS       protoreflect.FullName = "envoy.extensions.filters.network.http_connection_manager.v3.Rds.route_config_name"
	fieldScope     protoreflect.FullName = "envoy.config.route.v3.ScopedRouteConfiguration.route_configuration_name"
	fieldPerFilter                       = "typed_per_filter_config"
)

// dangling reports the dangling references to a kind; what begins the message: "no route configuration".
func dangling(kind graph.Kind, what, note string, fields ...protoreflect.FullName) lint.Check {
	return lint.EachDangling(kind, func(p *lint.Pass, e *graph.Edge, world graph.World) {
		if len(fields) == 0 || slices.Contains(fields, e.Field) {
			p.ReportDangling(e, world, lint.Diagnostic{Message: fmt.Sprintf("%s is named %q", what, e.Target), Notes: []string{note}})
		}
	})
}

// inside returns a check of the dangling references to what their own resource should declare.
func inside(kind graph.Kind, f func(p *lint.Pass, e *graph.Edge)) lint.Check {
	return lint.EachEdge(kind, func(p *lint.Pass, e *graph.Edge) {
		if e.To == nil {
			f(p, e)
		}
	})
}

// correct completes a finding about a name with the one that was probably meant.
func correct(e *graph.Edge) func(d *lint.Diagnostic, near string) {
	return func(d *lint.Diagnostic, near string) {
		d.Help, d.Fixes = fmt.Sprintf("did you mean %q?", near), lint.Correct(e.At(), e.Target, near)
	}
}
