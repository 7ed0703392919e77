package xdslint

import (
	"slices"
	"time"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

// forTargets judges for each target. A finding for all targets is reported once. A finding for only some of them names these.
func (l *Linter) forTargets(judge func(dataplane.Target) *lint.Result) *lint.Result {
	m := merged{judge(l.targets[0]), map[finding][]dataplane.Target{}}
	if len(l.targets) == 1 {
		return m.Result
	}
	for i := range m.Diagnostics {
		m.note(&m.Diagnostics[i], l.targets[0])
	}
	for _, t := range l.targets[1:] {
		m.add(judge(t), t)
	}
	m.noteTargets(l)
	return m.Result
}

// targetsOf returns the targets that a file is judged for.
func (l *Linter) targetsOf(file string) []dataplane.Target {
	if l.byPath {
		if own := l.config.TargetsOf(file); len(own) > 0 {
			return own
		}
	}
	return l.judging.Fleet
}

// fileTargets returns the targets of the files that have their own, by name.
func (l *Linter) fileTargets(snapshots []*graph.Snapshot) map[string][]dataplane.Target {
	if !l.byPath || len(l.config.TargetsByPath) == 0 {
		return nil
	}
	all := map[string][]dataplane.Target{}
	for _, s := range snapshots {
		for _, r := range s.Resources {
			if own := l.config.TargetsOf(r.File.Name); len(own) > 0 {
				all[r.File.Name] = own
			}
		}
	}
	return all
}

// merged is one result for several targets.
type merged struct {
	*lint.Result
	holds map[finding][]dataplane.Target // for whom
}

// finding identifies a finding independently of the target.
type finding struct {
	lint.Key
	file, message string
	start         int
}

func findingOf(d *lint.Diagnostic) finding {
	return finding{d.Key(), d.Resource.File.Name, d.Message, d.Span.Start}
}

// note writes down that a finding holds for a target.
func (m *merged) note(d *lint.Diagnostic, t dataplane.Target) {
	if f := findingOf(d); !slices.Contains(m.holds[f], t) {
		m.holds[f] = append(m.holds[f], t)
	}
}

func (m *merged) add(more *lint.Result, t dataplane.Target) {
	for _, failure := range more.Failures {
		same := func(f *lint.Failure) bool { return f.Rule == failure.Rule && f.Error() == failure.Error() }
		if !slices.ContainsFunc(m.Failures, same) {
			m.Failures = append(m.Failures, failure)
		}
	}
	for _, origin := range more.Unable {
		if !slices.Contains(m.Unable, origin) {
			m.Unable = append(m.Unable, origin)
		}
	}
	for rule, took := range more.Timings {
		if m.Timings == nil {
			m.Timings = map[*lint.Rule]time.Duration{}
		}
		m.Timings[rule] += took
	}
	for i := range more.Diagnostics {
		d := &more.Diagnostics[i]
		if len(m.holds[findingOf(d)]) == 0 {
			m.Diagnostics = append(m.Diagnostics, *d)
		}
		m.note(d, t)
	}
}

// noteTargets adds to each finding that does not hold for all targets of its file the names of those for which it does.
func (m *merged) noteTargets(l *Linter) {
	for i := range m.Diagnostics {
		d := &m.Diagnostics[i]
		if only := m.holds[findingOf(d)]; len(only) < len(l.targetsOf(d.Resource.File.Name)) {
			d.Notes = append(slices.Clone(d.Notes), "only for "+dataplane.Join(only))
		}
	}
	lint.Sort(m.Diagnostics)
}
