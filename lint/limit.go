package lint

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
)

// maxFindings is how many findings a run keeps. Aliases can make a text of a kilobyte as large as they like, and no one
// reads so many. If there are more, the rules share: those with few findings keep all, the others an equal part, which
// is the first ones in the order of resources. A finding with long texts counts as several.
const maxFindings = 20_000

// maxText is the length at which a text of a finding is cut, in bytes: a name can be as long as the input.
const maxText = 1000

// leftOut is what a run knows about the findings of a rule that it does not keep.
type leftOut struct {
	findings, weight int
	severity         Severity // of the worst one
	rejected         bool     // of any
}

func (o *leftOut) add(more leftOut) {
	o.findings, o.weight = o.findings+more.findings, o.weight+more.weight
	o.severity, o.rejected = max(o.severity, more.severity), o.rejected || more.rejected
}

// leave counts a finding that is not kept.
func (r *Result) leave(rule *Rule, out leftOut) {
	if r.left == nil {
		r.left = map[*Rule]*leftOut{}
	}
	if r.left[rule] == nil {
		r.left[rule] = &leftOut{}
	}
	r.left[rule].add(out)
}

func leaving(d *Diagnostic) leftOut {
	return leftOut{1, d.weight(), d.Severity, d.Rejected}
}

// full reports whether a result keeps no more findings of a rule.
func (r *Result) full(rule *Rule) bool { return r.left[rule] != nil || r.filled[rule] }

// found adds a finding, or counts it.
func (r *Result) found(d Diagnostic) {
	if r.full(d.Rule) {
		r.leave(d.Rule, leaving(&d))
		return
	}
	d.shorten()
	r.Diagnostics = append(r.Diagnostics, d)
	if r.weight += d.weight(); r.weight > 2*maxFindings {
		limit(r, r)
	}
}

// limit leaves out what results, in their order, have beyond maxFindings, and counts it in another one. It can be called
// again when there are more results, since the share of a rule only gets smaller: what is left out once would be left
// out in the end too. It returns the share of a rule.
func limit(out *Result, results ...*Result) (share int) {
	share = shareOf(out, results)
	kept := map[*Rule]int{}
	for _, r := range results {
		r.weight = 0
		keep := r.Diagnostics[:0]
		for _, d := range r.Diagnostics {
			if kept[d.Rule] >= share {
				out.leave(d.Rule, leaving(&d))
				continue
			}
			keep = append(keep, d)
			kept[d.Rule] += d.weight()
			r.weight += d.weight()
		}
		r.Diagnostics = slices.Clone(keep) // and forget the rest
	}
	return share
}

// shareOf returns how much of each rule is kept: as much as possible, so that all rules together have maxFindings.
func shareOf(out *Result, results []*Result) int {
	byRule := map[*Rule]int{}
	for rule, left := range out.left {
		byRule[rule] += left.weight
	}
	for _, r := range results {
		for i := range r.Diagnostics {
			byRule[r.Diagnostics[i].Rule] += r.Diagnostics[i].weight()
		}
	}
	weights := make([]int, 0, len(byRule))
	for _, weight := range byRule {
		weights = append(weights, weight)
	}
	slices.Sort(weights)
	free := maxFindings
	for i, weight := range weights {
		if rules := len(weights) - i; weight > free/rules {
			return free / rules
		}
		free -= weight
	}
	return maxFindings
}

// collector holds the results of the resources that are finished, in their order.
type collector struct {
	mu      sync.Mutex
	results []*judgement // nil: not finished, or empty
	done    []bool
	weight  int
	out     Result // what is left out of them
	filled  atomic.Pointer[map[*Rule]bool]
}

// add adds the result of a resource. If there are far too many findings, it leaves out those that would be left out in the end.
func (c *collector) add(i int, one *judgement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done[i] = true
	if one == nil {
		return
	}
	for rule, left := range one.left {
		c.out.leave(rule, *left)
	}
	one.left = nil
	if one.empty() && len(one.questions) == 0 {
		return
	}
	c.results[i] = one
	if c.weight += one.weight; c.weight > 2*maxFindings {
		c.limit()
	}
}

func (c *collector) limit() {
	share := limit(&c.out, c.finished()...)
	c.weight = 0
	kept, filled, first := map[*Rule]int{}, map[*Rule]bool{}, true
	for i, r := range c.results {
		first = first && c.done[i]
		if r == nil {
			continue
		}
		c.weight += r.weight
		for k := range r.Diagnostics {
			d := &r.Diagnostics[k]
			if kept[d.Rule] += d.weight(); first && kept[d.Rule] >= share {
				filled[d.Rule] = true // all that is not finished comes later
			}
		}
	}
	c.filled.Store(&filled)
}

// full returns the rules of which resources that begin now need not keep anything.
func (c *collector) full() map[*Rule]bool {
	if filled := c.filled.Load(); filled != nil {
		return *filled
	}
	return nil
}

func (c *collector) finished() []*Result {
	var all []*Result
	for _, one := range c.results {
		if one != nil {
			all = append(all, &one.Result)
		}
	}
	return all
}

func (r *Result) empty() bool {
	return len(r.Diagnostics)+len(r.Failures)+len(r.Timings)+len(r.left) == 0
}

// close ends the collecting: what is left out becomes a finding for each rule, which has its severity, so that a run
// fails as if all were there.
func (r *Result) close() {
	if r.weight > maxFindings || r.left != nil {
		limit(r, r)
	}
	last := map[*Rule]*graph.SourceFile{}
	for i := range r.Diagnostics {
		last[r.Diagnostics[i].Rule] = r.Diagnostics[i].Resource.File
	}
	for rule, out := range r.left {
		r.Diagnostics = append(r.Diagnostics, Diagnostic{
			Rule: rule, Severity: out.severity, Rejected: out.rejected, More: out.findings,
			Message:  "and " + words.Count(out.findings, "more finding") + " of this rule",
			Notes:    []string{fmt.Sprintf("a run keeps %d findings", maxFindings)},
			Resource: &graph.Resource{Kind: graph.File, Name: last[rule].Name, File: last[rule]},
		})
	}
	r.left = nil
}

// weight counts a finding with long texts as several.
func (d *Diagnostic) weight() int {
	n := len(d.Message) + len(d.Help) + len(d.Upstream) + len(d.Resource.Name)
	for _, note := range d.Notes {
		n += len(note)
	}
	for _, r := range d.Related {
		n += len(r.Message) + len(r.Resource.Name)
	}
	for _, fix := range d.Fixes {
		for _, e := range fix.Edits {
			n += len(e.New)
		}
	}
	for p := d.Path; p != nil; p = p.Parent() {
		key, _ := p.Key()
		n += len(p.Name()) + len(key)
	}
	return 1 + n/(2*maxText)
}

// shorten cuts the texts of a finding. Those about a Kubernetes Secret stay, since secrets are found only if they are whole.
func (d *Diagnostic) shorten() {
	if d.Resource.Object.Secret() {
		return
	}
	for _, text := range []*string{&d.Message, &d.Help, &d.Upstream} {
		*text = words.Cut(*text, maxText)
	}
	if slices.ContainsFunc(d.Notes, tooLong) {
		d.Notes = slices.Clone(d.Notes)
		for i := range d.Notes {
			d.Notes[i] = words.Cut(d.Notes[i], maxText)
		}
	}
	if slices.ContainsFunc(d.Related, func(r Related) bool { return tooLong(r.Message) }) {
		d.Related = slices.Clone(d.Related)
		for i := range d.Related {
			d.Related[i].Message = words.Cut(d.Related[i].Message, maxText)
		}
	}
}

func tooLong(text string) bool { return len(text) > maxText }
