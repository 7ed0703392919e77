// Package baseline records known findings, so that only new ones are reported.
//
// [Of] makes a baseline of findings, [Baseline.Write] writes it with one entry per line, and [Read] reads it with the
// places of the entries. [Baseline.Apply] removes the known findings from a result. If the run covers everything that
// the baseline was written for, an entry that no longer occurs becomes a finding of the rule suppress/stale-baseline.
//
// An entry is a [lint.Key]: rule, kind, name and field, never a line or a message. So a finding stays hidden when lines
// move, or when its message names another value. Several findings can have one key; an entry counts them, and hides no
// more than that many. If an element is inserted into a list, the fields after it have other keys, and their findings
// are reported again: a baseline prefers that to hiding a new finding.
package baseline
