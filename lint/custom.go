package lint

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/parallel"
	"github.com/xdslint/xdslint/internal/words"
)

// Origin is the source of custom rules: a constraint or a plugin, written by users of xdslint.
type Origin struct {
	Name     string            // in messages: constraint acme/cluster-name, plugin rules.wasm
	File     *graph.SourceFile // the configuration that defines it, or the plugin itself
	Span     graph.Span
	Examples fs.FS // GROUP/NAME.txtar of its rules; nil: there are none
}

// Place returns the file, with the line if it is known: .xdslint.yaml:12, rules.wasm.
func (o *Origin) Place() string {
	if o.Span.IsZero() {
		return words.Name(o.File.Name)
	}
	return fmt.Sprintf("%s:%d", words.Name(o.File.Name), o.File.Position(o.Span.Start).Line)
}

// EvalError is the reason why the rules of an origin cannot judge a snapshot.
type EvalError struct {
	Message string // continues the origin's name: "took longer than 10 s"
	Notes   []string
	Help    string
}

// Error returns the message and the notes in one line.
func (e *EvalError) Error() string {
	return strings.Join(append([]string{e.Message}, e.Notes...), "; ")
}

// Judge runs the rules of one origin on a snapshot, with a pass for each enabled rule.
type Judge func(ctx context.Context, passes []*Pass) *EvalError

// ForOrigin returns the check of custom rules. All rules of one origin share it. A run calls start once, when the
// built-in rules are done, and then the returned Judge for one snapshot after the other, so a Judge can add up its
// costs. If the Judge returns an error, the run does not call it again, drops all findings of the origin's rules and
// reports CannotJudge. Origins run in parallel.
func ForOrigin(start func() Judge) Check { return Check{origin: &originCheck{start}} }

type originCheck struct{ start func() Judge }

// Custom is the group of rules about the custom rules and extensions of users.
var Custom = &Group{Name: "house", Summary: "custom rules that cannot judge, and messages of custom extensions that are invalid"}

// CannotJudge reports an origin that failed, at most once in a run.
var CannotJudge = Custom.Add(&Rule{
	Name: "cannot-judge", Severity: Error, Summary: "a custom rule could not judge the configuration",
	Why: "A constraint in `.xdslint.yaml` or a plugin met something that it cannot handle: an expression divides by zero or costs too much, a plugin " +
		"crashes, takes too long or returns an answer that is not valid. What its rules found in this run is left out, since it is not all that they would " +
		"have found. All other rules have judged everything.",
})

// InvalidMessage reports invalid messages of custom extensions. It does not have a check here, since that needs CEL:
// custom.Rules adds it. A program without CEL knows only the rule's name.
var InvalidMessage = Custom.Add(&Rule{
	Name: "invalid-message", Severity: Error, Summary: "a message of a custom extension breaks the rules in its descriptor",
	Why: "The descriptors that `--proto-descriptors` names state rules for their messages and fields: options of `buf.validate`, in the language of " +
		"[protovalidate](https://protovalidate.com). Envoy does not know them: only the extension itself may check them. " +
		"A rule that compares with `now` uses the clock.",
	Links: []string{"https://protovalidate.com/schemas/standard-rules/"},
})

// originRun is the state of one origin in a run.
type originRun struct {
	Result
	*originCheck
	rules []*Rule
	err   *EvalError // nil: it has judged all snapshots
}

func (o *originRun) origin() *Origin { return o.rules[0].Origin }

// customRules runs the custom rules on all snapshots. The origins are independent, and each takes the snapshots in
// order: so the findings do not depend on scheduling.
func customRules(ctx context.Context, snapshots []*graph.Snapshot, config Config) *Result {
	origins := originsOf(config.Rules)
	parallel.Each(ctx, len(origins), func() func(int) {
		return func(i int) { origins[i].run(ctx, snapshots, config) }
	})
	all := &Result{}
	for _, o := range origins {
		all.add(&o.Result)
		if o.err != nil {
			all.Unable = append(all.Unable, o.origin())
			all.found(o.cannotJudge())
		}
	}
	slices.SortFunc(all.Unable, func(a, b *Origin) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.File.Name, b.File.Name))
	})
	return all
}

// originsOf groups the custom rules by origin.
func originsOf(rules []*Rule) (origins []*originRun) {
	for _, rule := range rules {
		check := rule.Run.origin
		if check == nil {
			continue
		}
		i := slices.IndexFunc(origins, func(o *originRun) bool { return o.originCheck == check })
		if i < 0 {
			i = len(origins)
			origins = append(origins, &originRun{originCheck: check})
		}
		origins[i].rules = append(origins[i].rules, rule)
	}
	return origins
}

func (o *originRun) run(ctx context.Context, snapshots []*graph.Snapshot, config Config) {
	judge := o.start()
	for _, s := range snapshots {
		if ctx.Err() != nil {
			return
		}
		if isFragment(s) {
			continue
		}
		if o.err = o.snapshot(ctx, judge, s, config); o.err != nil {
			o.Diagnostics, o.left, o.weight = nil, nil, 0
			return
		}
	}
}

func (o *originRun) snapshot(ctx context.Context, judge Judge, s *graph.Snapshot, config Config) *EvalError {
	defer o.contain(o.rules[0], s, nil)
	if config.Timings {
		defer o.measure(o.rules[0], time.Now())
	}
	passes := make([]*Pass, len(o.rules))
	for i, rule := range o.rules {
		passes[i] = newPass(ctx, rule, s, config, &o.Result)
	}
	return judge(ctx, passes)
}

// cannotJudge returns the finding at the origin's place.
func (o *originRun) cannotJudge() Diagnostic {
	at := o.origin()
	return Diagnostic{
		Rule: CannotJudge, Severity: CannotJudge.Severity, Message: at.Name + " " + o.err.Message, Notes: o.err.Notes, Help: o.err.Help,
		Resource: &graph.Resource{Kind: graph.File, Name: at.File.Name, File: at.File}, Span: at.Span,
	}
}
