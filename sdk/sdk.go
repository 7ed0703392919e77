// Package sdk is for plugins in Go: custom rules for xdslint, compiled to WebAssembly. A plugin is a main package that registers its rules in
// init:
//
//	func init() {
//		sdk.Register(sdk.Rule{
//			ID:      "acme/cluster-name",
//			Summary: "a cluster whose name is not team-service",
//			Check: sdk.Each(func(p *sdk.Pass, at sdk.At, c *clusterv3.Cluster) {
//				if !strings.Contains(c.GetName(), "-") {
//					p.Reportf(at.Field("name"), "%q is not team-service", c.GetName())
//				}
//			}),
//		})
//	}
//
//	func main() {}
//
// Build it with GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o rules.wasm .
package sdk

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/xdslint/xdslint/internal/pluginabi"
)

// Severity is how bad a finding is.
type Severity int

// The severities. Unset is the default: a finding then has the severity of its rule, and a rule Error.
const (
	Unset Severity = iota
	Info
	Warning
	Error
)

// Rule is one thing that can be wrong with a configuration: data and one function, without state. Each check runs in a new instance of the
// plugin.
type Rule struct {
	ID       string // GROUP/NAME in lower-case letters, digits and hyphens; not a group of built-in rules
	Severity Severity
	Summary  string   // one line: what it finds
	Why      string   // Markdown: why that is wrong, and what to write instead
	Links    []string // your style guide, an incident
	Check    Check
}

// Check is the function of a rule. Each and Whole return one.
type Check struct {
	reads []string // full names of message types
	run   func(*Pass)
}

// Each runs f for every message of a type, wherever it is nested, also in every Any that can be decoded.
func Each[M proto.Message](f func(p *Pass, at At, m M)) Check {
	var zero M
	return Whole(func(p *Pass) {
		for at, m := range All[M](p) {
			f(p, at, m)
		}
	}, zero)
}

// Whole runs f once for a snapshot. The plugin gets the messages of the given types, for All and Message.
func Whole(f func(p *Pass), reads ...proto.Message) Check {
	c := Check{run: f}
	for _, m := range reads {
		c.reads = append(c.reads, nameOf(m))
	}
	return c
}

func nameOf(m proto.Message) string { return string(m.ProtoReflect().Descriptor().FullName()) }

var rules []Rule

// Register adds rules to the plugin; call it from init. It panics if an id is registered twice, or a rule has no Check.
func Register(more ...Rule) {
	for _, r := range more {
		for _, known := range rules {
			if known.ID == r.ID {
				panic("two rules have the id " + r.ID)
			}
		}
		if r.Check.run == nil {
			panic(fmt.Sprintf("rule %s has no Check", r.ID))
		}
		rules = append(rules, r)
	}
}

// describe returns the Description, which xdslint reads first.
func describe(rules []Rule) *pluginabi.Description {
	d := &pluginabi.Description{}
	seen := map[string]bool{}
	for _, r := range rules {
		d.Rules = append(d.Rules, &pluginabi.Rule{
			Id: r.ID, Severity: pluginabi.Severity(r.Severity), Summary: r.Summary, Why: r.Why, Links: r.Links,
		})
		for _, name := range r.Check.reads {
			if !seen[name] {
				seen[name] = true
				d.Types = append(d.Types, name)
			}
		}
	}
	return d
}

// check runs the rules that xdslint asks for.
func check(rules []Rule, s *pluginabi.Snapshot) *pluginabi.Findings {
	found := &pluginabi.Findings{}
	snapshot := read(s)
	wanted := map[string]bool{}
	for _, id := range s.GetRules() {
		wanted[id] = true
	}
	for i := range rules {
		if wanted[rules[i].ID] {
			rules[i].Check.run(&Pass{Rule: &rules[i], Snapshot: snapshot, into: found})
		}
	}
	return found
}
