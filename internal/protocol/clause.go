package protocol

import (
	"slices"
	"sync"

	"github.com/xdslint/xdslint/lint"
)

// Level is how strongly the protocol demands what a clause says.
type Level string

// The levels.
const (
	Must   Level = "must"
	Should Level = "should"
	Advice Level = "advice" // the protocol permits it, but it is seldom meant
)

var severities = map[Level]lint.Severity{Must: lint.Error, Should: lint.Warning, Advice: lint.Info}

// Clause is one sentence of the protocol: data, and a function for the event that can break it.
type Clause struct {
	Name   string // states the breach
	Level  Level
	Breach string // the summary of its rule
	Says   string // what the protocol demands
	Effect string // what Envoy and gRPC do with a breach
	// Harmless says why Envoy and gRPC are not wrong because of a breach, however much it costs. Empty: one of them is, in a
	// test of internal/reference; or the clause is about clients.
	Harmless string
	Section  string // of Envoy's page about the protocol; or an address
	Client   bool   // it is about clients, and not about servers

	onRequest  func(*moment)
	onResponse func(*moment)
	onClose    func(*moment)

	Rule *lint.Rule // the clause, for reports
}

// families are the clauses, by what they are about. They are functions, so that a program that does not judge
// recordings does not link them.
func families() [][]*Clause {
	return [][]*Clause{
		nonces(), answers(), types(), versions(), repeats(), names(), state(), silences(), witnesses(), nodes(), ttls(), reconnects(), polls(),
		requests(), judgements(), returns(), onDemand(),
	}
}

// Group is the name of the group of rules that the clauses are.
const Group = "protocol"

var made struct {
	sync.Once
	group   lint.Group
	clauses []*Clause
}

func build() {
	made.group = lint.Group{Name: Group, Summary: "how a control plane and its clients speak xDS: xdslint trace judges recordings"}
	made.clauses = slices.Concat(families()...)
	slices.SortFunc(made.clauses, func(a, b *Clause) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
	for _, c := range made.clauses {
		c.Rule = made.group.Add(&lint.Rule{
			Name: c.Name, Severity: severities[c.Level], Summary: c.Breach, Why: c.why(), Links: []string{c.source()},
		})
	}
}

// Clauses returns all clauses, sorted by name.
func Clauses() []*Clause {
	made.Do(build)
	return made.clauses
}

// Rules returns the clauses as a group of rules, to list and select them. Their findings come from a Checker.
func Rules() *lint.Group {
	made.Do(build)
	return &made.group
}

const page = "https://www.envoyproxy.io/docs/envoy/latest/api-docs/xds_protocol"

func (c *Clause) source() string {
	if len(c.Section) > 0 && c.Section[0] == 'h' {
		return c.Section
	}
	return page + c.Section
}

func (c *Clause) why() string {
	effect := c.Effect
	if c.Harmless != "" {
		effect += " Envoy and gRPC are not wrong because of it: " + c.Harmless
	}
	return c.Says + "\n\n" + effect + "\n\nLevel: " + string(c.Level) + ".\n"
}
