package lint

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"sync"

	"github.com/xdslint/xdslint/graph"
)

// Origin is what holds a house rule: one that is not built in, but written by those who use xdslint.
type Origin struct {
	Name     string            // in messages: constraint acme/cluster-name, plugin rules.wasm
	File     *graph.SourceFile // where it is written: a configuration, or the plugin itself
	Span     graph.Span
	Examples fs.FS // GROUP/NAME.txtar of its rules; nil: there are none
}

// EvalError says why a house rule cannot judge.
type EvalError struct {
	Message string // what follows the origin's name: "took longer than 10 s"
	Notes   []string
	Help    string
}

// Custom are the findings about what users have written for themselves.
var Custom = &Group{Name: "house", Summary: "rules of your own that cannot judge, and messages of your own that are invalid"}

// CannotJudge is found once for each origin in a run.
var CannotJudge = Custom.Add(&Rule{
	Name: "cannot-judge", Severity: Error, Summary: "a rule of your own could not judge the configuration",
	Why: "A constraint in `.xdslint.yaml` or a plugin met something that it is not made for: an expression divides by zero or costs too much, a plugin " +
		"crashes, thinks too long or answers what nobody understands. What its rules found in this run is left out, since it is not all that they would " +
		"have found. All other rules have judged everything.",
})

// InvalidMessage is about the messages of an extension that a team has written. Package house gives it its check, which needs CEL; in a program without, it
// is only a name.
var InvalidMessage = Custom.Add(&Rule{
	Name: "invalid-message", Severity: Error, Summary: "a message of your own extension is not as its descriptor demands",
	Why: "The descriptors that `--proto-descriptors` names state rules for their messages and fields: options of `buf.validate`, in the language of " +
		"[protovalidate](https://protovalidate.com). Envoy does not know them: what checks them there is the extension itself, if anything does. " +
		"A rule that compares with `now` uses the clock.",
	Links: []string{"https://protovalidate.com/schemas/standard-rules/"},
})

// Jointly is the check of several rules that judge a snapshot at once, such as those of a plugin: give all of them the same Check. A run calls f once for a
// snapshot, with the passes of those rules that run. If it returns something, the run reports that instead of what the rules have found.
func Jointly(f func(ctx context.Context, passes []*Pass) *EvalError) Check {
	return Check{joint: &joint{f}}
}

type joint struct {
	f func(ctx context.Context, passes []*Pass) *EvalError
}

// jointRules are those that run of the rules with one check.
type jointRules struct {
	*joint
	rules []*Rule
}

func (r *runner) join(rule *Rule) {
	i := slices.IndexFunc(r.joints, func(j jointRules) bool { return j.joint == rule.Run.joint })
	if i < 0 {
		i = len(r.joints)
		r.joints = append(r.joints, jointRules{joint: rule.Run.joint})
	}
	r.joints[i].rules = append(r.joints[i].rules, rule)
}

// jointly calls what judges for several rules at once.
func (r *runner) jointly(ctx context.Context) {
	for _, j := range r.joints {
		rules := j.rules
		if ctx.Err() != nil || r.fragment() || !r.unables.able(rules[0], r.before) {
			continue
		}
		passes := make([]*Pass, len(rules))
		for i, rule := range rules {
			passes[i] = r.pass(rule, &r.before, r.found)
		}
		func() {
			defer r.contain(rules[0], nil, &r.Result)
			if r.config.Timings {
				defer r.measure(rules[0])()
			}
			if why := j.f(ctx, passes); why != nil {
				r.unables.note(rules[0].Origin, r.before, why)
			}
		}()
	}
}

// Fail ends a house rule's part in the run: it cannot judge. The run reports that once, in place of all that the rule finds.
func (p *Pass) Fail(why *EvalError) { p.unables.note(p.Rule.Origin, *p.at, why) }

// Spend counts what a house rule has cost, in units of its own. Where it spends more than the limit in a run, it cannot judge; where it
// does so at one resource, it need not go on there.
func (p *Pass) Spend(cost, limit uint64, why *EvalError) (more bool) {
	return p.unables.spend(p.Rule.Origin, *p.at, cost, limit, why)
}

// spending is what a rule has cost in a run, by resource.
type spending struct {
	by    map[int]uint64
	total uint64
	limit uint64
	why   *EvalError
}

// end is the first resource at which the rule has spent more than it may; ok is false if there is none. All resources before it were judged, so it is the
// same in every run.
func (s *spending) end() (at int, ok bool) {
	spent := uint64(0)
	for _, at := range slices.Sorted(maps.Keys(s.by)) {
		if spent += s.by[at]; spent > s.limit {
			return at, true
		}
	}
	return 0, false
}

// inability is the first place in a run where a house rule could not judge.
type inability struct {
	at  int // of the resources of all snapshots
	why *EvalError
}

// unables are the house rules that cannot judge. Which finding is reported must not depend on which goroutine comes first: a rule goes on with the
// resources before the one on which it failed.
type unables struct {
	mu    sync.RWMutex
	first map[*Origin]inability
	spent map[*Origin]*spending
	last  map[*Origin]int // of rules that have spent too much: the last resource that they still judge
}

func newUnables() *unables {
	return &unables{first: map[*Origin]inability{}, spent: map[*Origin]*spending{}, last: map[*Origin]int{}}
}

// spend counts what a rule has cost at a resource.
func (u *unables) spend(o *Origin, at int, cost, limit uint64, why *EvalError) (more bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := u.spent[o]
	if s == nil {
		s = &spending{by: map[int]uint64{}, limit: limit, why: why}
		u.spent[o] = s
	}
	s.by[at] += cost
	s.total += cost
	last, over := u.last[o]
	switch {
	case s.by[at] > limit && (!over || at <= last):
		u.last[o] = at - 1 // here it has spent too much already
	case s.total > limit && !over:
		u.last[o] = slices.Max(slices.Collect(maps.Keys(s.by))) // of those that it has begun with, some are before the end
	}
	return s.by[at] <= limit // and not the total: where a rule stops must not depend on other resources, which others judge meanwhile
}

func (u *unables) note(o *Origin, at int, why *EvalError) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if first, failed := u.first[o]; !failed || at < first.at {
		u.first[o] = inability{at, why}
	}
}

// able tells whether a rule still has to judge a resource.
func (u *unables) able(r *Rule, at int) bool {
	if r.Origin == nil {
		return true
	}
	u.mu.RLock()
	defer u.mu.RUnlock()
	first, failed := u.first[r.Origin]
	last, over := u.last[r.Origin]
	return (!failed || at < first.at) && (!over || at <= last)
}

// report puts the inabilities in place of what the rules have found.
func (u *unables) report(result *Result) {
	for o, s := range u.spent {
		if at, over := s.end(); over {
			u.note(o, at, s.why)
		}
	}
	if len(u.first) == 0 {
		return
	}
	result.Diagnostics = slices.DeleteFunc(result.Diagnostics, func(d Diagnostic) bool {
		_, failed := u.first[d.Rule.Origin]
		return failed
	})
	origins := slices.SortedFunc(maps.Keys(u.first), func(a, b *Origin) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.File.Name, b.File.Name))
	})
	result.Unable = origins
	for _, o := range origins {
		why := u.first[o].why
		result.Diagnostics = append(result.Diagnostics, Diagnostic{
			Rule: CannotJudge, Severity: CannotJudge.Severity, Message: o.Name + " " + why.Message, Notes: why.Notes, Help: why.Help,
			Resource: &graph.Resource{Kind: graph.File, Name: o.File.Name, File: o.File}, Span: o.Span,
		})
	}
}

// Place is where the rules are written, in words: .xdslint.yaml:12, rules.wasm.
func (o *Origin) Place() string {
	if o.Span.IsZero() {
		return o.File.Name
	}
	return fmt.Sprintf("%s:%d", o.File.Name, o.File.Position(o.Span.Start).Line)
}
