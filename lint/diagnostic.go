package lint

import (
	"strings"

	"github.com/xdslint/xdslint/graph"
)

// Diagnostic is one finding.
type Diagnostic struct {
	Rule     *Rule
	Severity Severity
	Message  string   // one line, without a full stop
	Notes    []string // what the data plane does with it
	Help     string   // what to write instead
	Upstream string   // the gist of the data plane's own message, for those who have its log; see Rejected
	Rejected bool     // the target refuses it, delivered as it is: what verdicts are made of

	Resource *graph.Resource
	Path     *graph.Path // the field, from the resource's message
	Span     graph.Span  // zero where the input has no text
	Related  []Related
	Fixes    []Fix
}

// Related is another place that a finding is about.
type Related struct {
	Message  string
	Resource *graph.Resource
	Path     *graph.Path
	Span     graph.Span
}

// Fix is one way to mend a finding.
type Fix struct {
	Message string
	Safe    bool // no request that succeeds today can fail after it
	Edits   []Edit
}

// Edit replaces a span of the finding's file.
type Edit struct {
	Span graph.Span
	New  string
}

// Key is what stays of a finding when the file around it is edited: baselines and fingerprints are made of it.
type Key struct {
	Rule  string     `json:"rule"`
	Kind  graph.Kind `json:"kind"`
	Name  string     `json:"name"`
	Field string     `json:"field"`
}

// field is where the finding is in its resource; for a patch, where in its object: there may be several patches in it.
func (d *Diagnostic) field() string {
	if d.Resource.Kind == graph.Patch {
		return d.Resource.InObject(d.Path).String()
	}
	return d.Path.String()
}

// Key of the finding. Findings with equal keys can differ in their messages and places.
func (d *Diagnostic) Key() Key {
	return Key{Rule: d.Rule.ID(), Kind: d.Resource.Kind, Name: d.Resource.Name, Field: d.field()}
}

// WithoutNumbers leaves out of a message, or of a place, the numbers that can be positions: what is left stays the same when something before the
// finding is added or removed. In quotes stand names, which keep theirs.
func WithoutNumbers(message string) string {
	if !strings.ContainsAny(message, "0123456789") {
		return message
	}
	var b strings.Builder
	quoted, escaped := false, false
	for _, c := range []byte(message) {
		switch {
		case escaped:
			escaped = false
		case c == '\\':
			escaped = quoted
		case c == '"':
			quoted = !quoted
		}
		if quoted || c < '0' || c > '9' {
			b.WriteByte(c)
		}
	}
	return b.String()
}
