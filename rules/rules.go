// Package rules lists the groups of built-in rules.
package rules

import (
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/lint/suppress"
	"github.com/xdslint/xdslint/rules/bootstrap"
	"github.com/xdslint/xdslint/rules/cluster"
	"github.com/xdslint/xdslint/rules/endpoint"
	"github.com/xdslint/xdslint/rules/health"
	"github.com/xdslint/xdslint/rules/http"
	"github.com/xdslint/xdslint/rules/listener"
	"github.com/xdslint/xdslint/rules/reference"
	"github.com/xdslint/xdslint/rules/route"
	"github.com/xdslint/xdslint/rules/schema"
	"github.com/xdslint/xdslint/rules/transition"
	"github.com/xdslint/xdslint/rules/version"
)

// Groups are the built-in groups, in the order in which they are documented.
var Groups = []*lint.Group{schema.Rules, reference.Rules, listener.Rules, http.Rules, route.Rules, cluster.Rules, endpoint.Rules, health.Rules, bootstrap.Rules, version.Rules, transition.Rules}

// Others are the groups that are about no configuration of Envoy's: suppressions, and what users have written for themselves.
var Others = []*lint.Group{suppress.Rules, lint.Custom}

// Known lists all rules that a configuration or a suppression can name: besides All those of Others.
func Known() []*lint.Rule {
	all := All()
	for _, g := range Others {
		all = append(all, g.Rules()...)
	}
	return all
}

// All lists every built-in rule, by group and name.
func All() []*lint.Rule {
	var all []*lint.Rule
	for _, g := range Groups {
		all = append(all, g.Rules()...)
	}
	return all
}
