package admission

import (
	"fmt"
	"maps"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// quarantine looks for the smallest part of a snapshot that has to be withheld so that no new error goes out.
//
// What is withheld is a set of changes: of these resources the node keeps what it has, be it an earlier version or nothing. Errors blame
// changes, and a blamed one takes with it what cannot be without it (closure.go); then what is left is judged again. The set only grows,
// so this ends, at the latest where nothing changes for the node any more.
type quarantine struct {
	*judging
	verdict verdict // about the whole snapshot

	order   []key // of all resources of both snapshots, by type and name
	changes map[key]bool

	blamed map[key]blame
	kept   map[key]string // changes that are withheld, and why
	all    bool           // nothing changes for the node
	tries  int            // how often less was tried
}

// blame is why a change is withheld, for itself.
type blame struct {
	why    string
	unsure bool // there are other changes that the error could come from
}

func newQuarantine(j *judging, v verdict) *quarantine {
	v.Outcome = Quarantined
	q := &quarantine{judging: j, verdict: v, changes: map[key]bool{}, blamed: map[key]blame{}}
	q.order = union(j.base, j.next)
	for _, k := range q.order {
		was, is := j.base.resources[k], j.next.resources[k]
		q.changes[k] = was == nil || is == nil || was.TTL != is.TTL || !graph.Equal(was, is)
	}
	return q
}

// run withholds until no new error is left, then gives back what was withheld in vain.
func (q *quarantine) run(fresh []lint.Diagnostic) {
	q.blame(fresh, q.next)
	for !q.all {
		q.close()
		c := q.compose()
		q.note(c, false)
		left, ok := q.left(c)
		if !ok {
			return
		}
		if len(left) == 0 {
			q.note(c, true)
			q.giveBack(q.unsure())
			return
		}
		q.blame(left, c)
	}
	q.close()
	q.note(q.compose(), true)
	q.giveBack(q.unsure())
}

// left lists the errors for which something would have to be withheld from what could go out.
func (q *quarantine) left(c *judged) ([]lint.Diagnostic, bool) {
	found, ok := q.find(c)
	if !ok {
		return nil, false
	}
	fresh, ok := q.fresh(found)
	return slices.DeleteFunc(fresh, func(d lint.Diagnostic) bool { return q.options.policy(d.Rule) == Observe }), ok
}

// blame finds the changes that errors come from. If there is none that is not withheld yet, all are blamed.
func (q *quarantine) blame(errors []lint.Diagnostic, in *judged) {
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
			q.add(k, blame{"there are new errors, and which change they come from is not known", true})
		}
	}
}

// free tells whether a resource goes out in a new version, or goes away.
func (q *quarantine) free(k key) bool {
	_, blamed := q.blamed[k]
	_, kept := q.kept[k]
	return q.changes[k] && !blamed && !kept
}

// add blames a change, for the first reason that is sure.
func (q *quarantine) add(k key, b blame) {
	if former, known := q.blamed[k]; !known || former.unsure && !b.unsure {
		q.blamed[k] = b
	}
}

// blameFor blames the resource with the error, if it is new or changed; unless what is wrong is that another one goes away, to which it has
// referred all along. Else the error comes from something around it.
func (q *quarantine) blameFor(d *lint.Diagnostic, in *judged) {
	at, ours := keyOf(d.Resource)
	e := edgeAt(in.graph, d)
	removed, had := q.removed(at, ours, e)
	switch {
	case had:
		q.add(removed, blame{fmt.Sprintf("%s %q refers to it", d.Resource.Kind, d.Resource.Name), false})
	case ours && q.changes[at] && in.resources[at] == q.next.resources[at]:
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

// removed finds what the resource with an error has referred to all along, by the very reference that the error is about, and what is now to go.
func (q *quarantine) removed(at key, ours bool, e *graph.Edge) (key, bool) {
	if e == nil || e.To != nil {
		return key{}, false
	}
	was := e.From
	if ours {
		if was = q.base.resources[at]; was == nil {
			return key{}, false
		}
	}
	for _, old := range q.base.graph.From(was) {
		if old.Kind != e.Kind || old.Target != e.Target || old.To == nil {
			continue
		}
		if k, ok := keyOf(old.To); ok && q.next.resources[k] == nil {
			return k, true
		}
	}
	return key{}, false
}

// around lists what an error in an unchanged resource can come from, the likeliest first.
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
	for _, side := range []*judged{q.base, q.next} {
		r := d.Resource
		if ours {
			r = side.resources[at]
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

// edgeAt is the reference that an error is about, nil if it is about something else.
func edgeAt(s *graph.Snapshot, d *lint.Diagnostic) *graph.Edge {
	for _, e := range s.From(d.Resource) {
		if e.Path == d.Path { // Pass.ReportEdge takes it over
			return e
		}
	}
	return nil
}

// unsure lists the changes that may have been blamed in vain: those that bring something first.
func (q *quarantine) unsure() []key {
	var bring, remove []key
	for _, k := range q.order {
		if b, ok := q.blamed[k]; !ok || !b.unsure {
			continue
		}
		if q.next.resources[k] != nil {
			bring = append(bring, k)
		} else {
			remove = append(remove, k)
		}
	}
	return append(bring, remove...)
}

// maxTries bounds how often a mixture is judged only to withhold less: hundreds of errors are not worth a deadline.
const maxTries = 32

// giveBack lets changes through again if no new error comes of it, by halves. All that is blamed cannot be given back.
func (q *quarantine) giveBack(some []key) {
	if len(some) == 0 || q.tries == maxTries || q.ctx.Err() != nil || len(some) < len(q.blamed) && q.without(some) || len(some) == 1 {
		return
	}
	q.giveBack(some[:len(some)/2])
	q.giveBack(some[len(some)/2:])
}

// without tries to let changes through.
func (q *quarantine) without(some []key) bool {
	q.tries++
	blamed, kept, all := maps.Clone(q.blamed), q.kept, q.all
	q.all = false
	for _, k := range some {
		delete(q.blamed, k)
	}
	q.close()
	c := q.compose()
	left, ok := q.left(c)
	if !ok || len(left) > 0 {
		q.blamed, q.kept, q.all = blamed, kept, all
		return false
	}
	q.note(c, true)
	return true
}

// note puts down what would go out now, and whether that is known to be free of new errors.
func (q *quarantine) note(c *judged, whole bool) {
	v := q.verdict
	v.whole, v.out, v.Withheld = whole, c, q.withheld(c)
	v.Snapshot = q.snapshot(c, v.Withheld)
	if !q.anything(c) {
		v.Outcome, v.Snapshot, v.out, v.Withheld = Blocked, nil, nil, nil
	}
	q.progress.Store(&v)
}

// anything tells whether what could go out has anything of the new snapshot, be it that something goes away.
func (q *quarantine) anything(c *judged) bool {
	for _, k := range q.order {
		if _, kept := q.kept[k]; !kept && (c.resources[k] != nil || q.next.resources[k] == nil) {
			return true
		}
	}
	return len(q.order) == 0
}
