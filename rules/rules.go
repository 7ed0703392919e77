// Package rules lists the groups of built-in rules.
package rules

import (
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/bootstrap"
	"github.com/xdslint/xdslint/rules/internal/cluster"
	"github.com/xdslint/xdslint/rules/internal/endpoint"
	"github.com/xdslint/xdslint/rules/internal/grpc"
	"github.com/xdslint/xdslint/rules/internal/hardening"
	"github.com/xdslint/xdslint/rules/internal/health"
	"github.com/xdslint/xdslint/rules/internal/http"
	"github.com/xdslint/xdslint/rules/internal/listener"
	"github.com/xdslint/xdslint/rules/internal/ops"
	"github.com/xdslint/xdslint/rules/internal/pod"
	"github.com/xdslint/xdslint/rules/internal/reference"
	"github.com/xdslint/xdslint/rules/internal/route"
	"github.com/xdslint/xdslint/rules/internal/schema"
	"github.com/xdslint/xdslint/rules/internal/tls"
	"github.com/xdslint/xdslint/rules/internal/transition"
	"github.com/xdslint/xdslint/rules/internal/version"
)

// Groups are the built-in groups, in the order in which they are documented.
var Groups = []*lint.Group{
	schema.Rules, reference.Rules, listener.Rules, http.Rules, route.Rules, cluster.Rules, endpoint.Rules, health.Rules, tls.Rules,
	hardening.Rules, ops.Rules, bootstrap.Rules, pod.Rules, version.Rules, transition.Rules, grpc.Rules,
}

// Meta are the groups that do not check Envoy's configuration itself: suppressions, and the users' custom rules.
var Meta = []*lint.Group{suppress.Rules, lint.Custom}

// All lists all rules that a configuration or a suppression can name: those of Groups and of Meta.
func All() []*lint.Rule { return rulesOf(Groups, Meta) }

// Builtin lists every built-in rule, by group and name.
func Builtin() []*lint.Rule { return rulesOf(Groups) }

func rulesOf(lists ...[]*lint.Group) []*lint.Rule {
	var all []*lint.Rule
	for _, groups := range lists {
		for _, g := range groups {
			all = append(all, g.Rules()...)
		}
	}
	return all
}

// Transitional lists the built-in rules about pushes, from one snapshot to the next. The others judge a single snapshot.
func Transitional() []*lint.Rule { return transition.Rules.Rules() }
