package baseline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/suppress"
	"github.com/xdslint/xdslint/lint"
)

// FileName is the name of a baseline file.
const FileName = ".xdslint-baseline.json"

const version = 1

// Baseline is a set of known findings.
type Baseline struct {
	Paths   []string // that were linted when it was written
	Entries []Entry
	file    *source.File
}

// Entry is one finding, or several with the same key.
type Entry struct {
	lint.Key
	Count int `json:"count"`
	span  source.Span
}

type fileShape struct {
	Version  int      `json:"version"`
	Paths    []string `json:"paths"`
	Findings []Entry  `json:"findings"`
}

// Read reads a baseline file; name is its name in findings.
func Read(path, name string) (*Baseline, error) {
	text, err := source.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var shape fileShape
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&shape); err != nil {
		return nil, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "json: "))
	}
	if shape.Version != version {
		return nil, fmt.Errorf("%s: unknown version %d; `xdslint baseline write` creates a new baseline", name, shape.Version)
	}
	b := &Baseline{Paths: shape.Paths, Entries: shape.Findings, file: &source.File{Name: name, Text: text}}
	at := 0
	for i := range b.Entries {
		// Write puts each entry on a line. In a file with another layout, entries have no place.
		line := lineOf(&b.Entries[i])
		if j := bytes.Index(text[at:], line); j >= 0 {
			b.Entries[i].span = source.Span{Start: at + j, End: at + j + len(line)}
			at += j + len(line)
		}
	}
	return b, nil
}

// Name returns the name of the file that the baseline was read from.
func (b *Baseline) Name() string { return b.file.Name }

// Of returns a baseline of findings.
func Of(found []lint.Diagnostic, paths []string) *Baseline {
	count := map[lint.Key]int{}
	for i := range found {
		count[found[i].Key()] += found[i].Count()
	}
	b := &Baseline{Paths: paths, Entries: make([]Entry, 0, len(count))}
	for key, n := range count {
		b.Entries = append(b.Entries, Entry{Key: key, Count: n})
	}
	sort.Slice(b.Entries, func(i, j int) bool { return less(b.Entries[i].Key, b.Entries[j].Key) })
	return b
}

func less(a, b lint.Key) bool {
	switch {
	case a.Rule != b.Rule:
		return a.Rule < b.Rule
	case a.Kind != b.Kind:
		return a.Kind < b.Kind
	case a.Name != b.Name:
		return a.Name < b.Name
	}
	return a.Field < b.Field
}

// Write writes the baseline with one entry per line, so that version control merges it well.
func (b *Baseline) Write(w io.Writer) error {
	var out bytes.Buffer
	paths, err := json.Marshal(slices.Concat([]string{}, b.Paths))
	if err != nil {
		return err
	}
	fmt.Fprintf(&out, "{\n  \"version\": %d,\n  \"paths\": %s,\n  \"findings\": [", version, paths)
	for i := range b.Entries {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, "\n    %s", lineOf(&b.Entries[i]))
	}
	out.WriteString("\n  ]\n}\n")
	_, err = w.Write(out.Bytes())
	return err
}

func lineOf(e *Entry) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(e) // cannot fail: strings and a number
	return bytes.TrimSpace(out.Bytes())
}

// Apply removes the known findings from a result and returns how many. whole states that the run covers all inputs of the
// baseline: then entries that no longer occur become findings.
func (b *Baseline) Apply(result *lint.Result, whole bool) int {
	left := map[lint.Key]int{}
	for _, e := range b.Entries {
		left[e.Key] += e.Count
	}
	hidden, partly := 0, leftOut(result.Diagnostics)
	result.Diagnostics = slices.DeleteFunc(result.Diagnostics, func(d lint.Diagnostic) bool {
		key, n := d.Key(), d.Count()
		left[key] -= n
		if left[key] < 0 {
			return false
		}
		hidden += n
		return true
	})
	if whole {
		for i := range b.Entries {
			if n := left[b.Entries[i].Key]; n > 0 && !partly[b.Entries[i].Rule] {
				result.Diagnostics = append(result.Diagnostics, b.stale(&b.Entries[i], n))
			}
		}
		lint.Sort(result.Diagnostics)
	}
	return hidden
}

func (b *Baseline) stale(e *Entry, n int) lint.Diagnostic {
	where := string(e.Kind)
	if e.Name != "" {
		where += fmt.Sprintf(" %q", e.Name)
	}
	if e.Field != "" {
		where += " › " + e.Field
	}
	message := fmt.Sprintf("%s no longer occurs in %s", e.Rule, where)
	if n < e.Count {
		message = fmt.Sprintf("%s occurs %d times less often in %s", e.Rule, n, where)
	}
	return lint.Diagnostic{
		Rule: suppress.StaleBaseline, Severity: suppress.StaleBaseline.Severity, Message: message,
		Help: "xdslint baseline prune", Span: e.span,
		Resource: &graph.Resource{Kind: graph.File, Name: b.file.Name, File: b.file},
	}
}

// Prune removes the findings that a run no longer found, and returns how many.
func (b *Baseline) Prune(found []lint.Diagnostic) int {
	count := map[lint.Key]int{}
	for i := range found {
		count[found[i].Key()] += found[i].Count()
	}
	pruned, partly := 0, leftOut(found)
	b.Entries = slices.DeleteFunc(b.Entries, func(e Entry) bool {
		return count[e.Key] == 0 && !partly[e.Rule] && gone(&pruned, e.Count)
	})
	for i := range b.Entries {
		if e := &b.Entries[i]; e.Count > count[e.Key] && !partly[e.Rule] {
			pruned += e.Count - count[e.Key]
			e.Count = count[e.Key]
		}
	}
	return pruned
}

// leftOut returns the rules of which a run did not keep all findings. An entry of such a rule may still occur.
func leftOut(found []lint.Diagnostic) map[string]bool {
	rules := map[string]bool{}
	for i := range found {
		if found[i].More > 0 {
			rules[found[i].Rule.ID()] = true
		}
	}
	return rules
}

func gone(pruned *int, n int) bool {
	*pruned += n
	return true
}

// Size returns the number of findings in the baseline.
func (b *Baseline) Size() int {
	n := 0
	for _, e := range b.Entries {
		n += e.Count
	}
	return n
}
