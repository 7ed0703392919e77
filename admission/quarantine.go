package admission

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// quarantine looks for the smallest part of a snapshot that must be withheld so that no new error is pushed.
//
// It withholds a set of changes: the node keeps what it has of these resources, an earlier version or nothing. Each error blames changes.
// Everything that depends on a blamed change is withheld too (closure.go), and the rest is judged again. The set only grows, so this ends, at
// the latest when nothing changes for the node.
type quarantine struct {
	*judging
	verdict verdict // about the whole snapshot

	order   []key // of all resources of both snapshots, by type and name
	changes map[key]bool

	blamed map[key]blame
	kept   map[key]string // changes that are withheld, and why
	all    bool           // nothing changes for the node
	search *search        // for what takes too long to judge; nil: all was judged
}

// blame is why a change is withheld, apart from dependencies.
type blame struct {
	why    string
	unsure bool // another change may cause the error
}

func newQuarantine(j *judging, v verdict) *quarantine {
	v.Outcome = Quarantined
	j.build(j.base)
	j.build(j.next)
	q := &quarantine{judging: j, verdict: v, changes: map[key]bool{}, blamed: map[key]blame{}}
	q.order = union(j.base, j.next)
	for _, k := range q.order {
		was, is := j.base.at(k), j.next.at(k)
		q.changes[k] = was == nil || is == nil || was.TTL != is.TTL || !graph.Equal(was, is)
	}
	return q
}

// run withholds changes until no new error is left, and then gives back those that need not be withheld.
func (q *quarantine) run(fresh []lint.Diagnostic) {
	q.begin(fresh)
	for !q.all {
		q.close()
		c := q.compose()
		q.note(c, false)
		left, ok := q.left(q.ctx, c)
		if !ok {
			return
		}
		if len(left) == 0 {
			q.note(c, true)
			q.giveBack(q.unsure(), maxTries)
			return
		}
		q.blame(left, c)
	}
	q.close()
	q.note(q.compose(), true)
	q.giveBack(q.unsure(), maxTries)
}

// begin blames what is known to be wrong.
func (q *quarantine) begin(fresh []lint.Diagnostic) {
	for k, why := range q.rejected {
		q.add(k, blame{why, false})
	}
	if len(fresh) > 0 {
		q.blame(fresh, q.next)
	}
}

// left lists the errors in a candidate for which something must be withheld.
func (q *quarantine) left(ctx context.Context, c *candidate) ([]lint.Diagnostic, bool) {
	found, ok := q.find(ctx, c)
	if !ok {
		return nil, false
	}
	fresh, ok := q.fresh(ctx, found)
	return slices.DeleteFunc(fresh, func(d lint.Diagnostic) bool { return q.options.policy(d.Rule) == Observe }), ok
}

// blame finds the changes that cause errors. If it finds none that is not withheld yet, it blames all changes.
func (q *quarantine) blame(errors []lint.Diagnostic, in *candidate) {
	before := len(q.blamed)
	for i := range errors {
		if d := &errors[i]; q.options.policy(d.Rule) != Observe {
			q.blameFor(d, in)
		}
	}
	if len(q.blamed) > before {
		return
	}
	q.all = true
	for _, k := range q.order {
		if q.changes[k] {
			q.add(k, blame{"there are new errors, and it is not known which change causes them", true})
		}
	}
}

// free reports whether a resource is added, changed or removed.
func (q *quarantine) free(k key) bool {
	_, blamed := q.blamed[k]
	_, kept := q.kept[k]
	return q.changes[k] && !blamed && !kept
}

// add blames a change. The first reason counts, but a sure one replaces an unsure one.
func (q *quarantine) add(k key, b blame) {
	if former, known := q.blamed[k]; !known || former.unsure && !b.unsure {
		q.blamed[k] = b
	}
}

// blameFor blames the cause of an error. If the resource has always referred to one that is removed, that is the removal. If the resource is new
// or changed, it is the resource. Otherwise it is a change around it.
func (q *quarantine) blameFor(d *lint.Diagnostic, in *candidate) {
	at, ours := keyOf(d.Resource)
	e := edgeAt(in.graph, d)
	removed, had := q.removed(at, ours, e)
	switch {
	case had:
		q.add(removed, blame{fmt.Sprintf("%s %q refers to it", d.Resource.Kind, words.Short(d.Resource.Name)), false})
	case ours && q.changes[at] && in.at(at) == q.next.at(at):
		unsure := len(d.Related) > 0 || e != nil && e.To != nil
		q.add(at, blame{fmt.Sprintf("%s [%s]", d.Message, d.Rule.ID()), unsure})
	default:
		why := blame{fmt.Sprintf("it seems to break %s", text(d)), true}
		for _, suspects := range q.around(d) {
			if suspects = slices.DeleteFunc(suspects, func(k key) bool { return !q.free(k) }); len(suspects) > 0 {
				for _, k := range suspects {
					q.add(k, why)
				}
				return
			}
		}
	}
}

// removed finds the resource that is removed although the reference that the error is about has always named it.
func (q *quarantine) removed(at key, ours bool, e *graph.Edge) (key, bool) {
	if e == nil || e.To != nil {
		return key{}, false
	}
	was := e.From
	if ours {
		if was = q.base.at(at); was == nil {
			return key{}, false
		}
	}
	for _, old := range q.base.graph.From(was) {
		if old.Kind != e.Kind || old.Target != e.Target || old.To == nil {
			continue
		}
		if k, ok := keyOf(old.To); ok && q.next.at(k) == nil {
			return k, true
		}
	}
	return key{}, false
}

// around lists possible causes of an error in an unchanged resource, the most likely ones first.
func (q *quarantine) around(d *lint.Diagnostic) [][]key {
	var related, targets, users []key
	note := func(to *[]key, r *graph.Resource) {
		if r == nil {
			return
		}
		if k, ok := keyOf(r); ok {
			*to = append(*to, k)
		}
	}
	for _, r := range d.Related {
		note(&related, r.Resource)
	}
	at, ours := keyOf(d.Resource)
	for _, side := range []*candidate{q.base, q.next} {
		r := d.Resource
		if ours {
			r = side.at(at)
		}
		for _, e := range side.graph.From(r) {
			note(&targets, e.To)
		}
		for _, e := range side.graph.To(r) {
			note(&users, e.From)
		}
	}
	return [][]key{related, targets, users}
}

// edgeAt returns the reference that an error is about, or nil.
func edgeAt(s *graph.Snapshot, d *lint.Diagnostic) *graph.Edge {
	for _, e := range s.From(d.Resource) {
		if e.Path == d.Path { // Pass.ReportEdge copies it
			return e
		}
	}
	return nil
}

// unsure lists the changes that may have been blamed wrongly: additions and changes first, then removals.
func (q *quarantine) unsure() []key {
	var bring, remove []key
	for _, k := range q.order {
		if b, ok := q.blamed[k]; !ok || !b.unsure {
			continue
		}
		if q.next.at(k) != nil {
			bring = append(bring, k)
		} else {
			remove = append(remove, k)
		}
	}
	return append(bring, remove...)
}

// maxTries bounds how often a candidate is judged only to withhold less. With hundreds of errors, that could exceed the deadline.
const maxTries = 32

// giveBack stops withholding changes if that causes no new error, by halves, the large parts first. It reports whether it has tried all. It cannot
// give back all blamed changes.
func (q *quarantine) giveBack(some []key, tries int) bool {
	for parts := [][]key{some}; len(parts) > 0; parts = parts[1:] {
		part := parts[0]
		if len(part) < len(q.blamed) {
			if tries == 0 || q.over() {
				return false
			}
			tries--
			if q.without(part) {
				continue
			}
		}
		if half := len(part) / 2; half > 0 {
			parts = append(parts, part[:half], part[half:])
		}
	}
	return true
}

// without tries not to withhold changes, and reports whether that causes no new error.
func (q *quarantine) without(some []key) bool {
	blamed, kept, all := maps.Clone(q.blamed), q.kept, q.all
	q.all = false
	for _, k := range some {
		delete(q.blamed, k)
	}
	q.close()
	c := q.compose()
	ctx, cancel := q.attempt()
	defer cancel()
	left, ok := q.left(ctx, c)
	if ok && len(left) == 0 {
		q.note(c, true)
		return true
	}
	q.blamed, q.kept, q.all = blamed, kept, all
	if len(some) == 1 && q.search != nil && ok {
		q.found(some[0], left)
	}
	return false
}

// note stores what would be pushed now in progress, and whether it is known not to have new errors.
func (q *quarantine) note(c *candidate, whole bool) {
	v := q.verdict
	v.whole, v.out, v.Withheld = whole, c, q.withheld(c)
	v.Snapshot = q.snapshot(c, v.Withheld)
	if !q.anything(c) {
		v.Outcome, v.Snapshot, v.out, v.Withheld = Blocked, nil, nil, nil
	}
	if q.search != nil {
		q.search.best = c
	}
	if q.search == nil || !q.search.whole {
		q.store(v)
	}
}

// anything reports whether a candidate contains any change of the new snapshot, including removals.
func (q *quarantine) anything(c *candidate) bool {
	for _, k := range q.order {
		if _, kept := q.kept[k]; !kept && (c.at(k) != nil || q.next.at(k) == nil) {
			return true
		}
	}
	return len(q.order) == 0
}
