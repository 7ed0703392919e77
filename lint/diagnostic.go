package lint

import "github.com/xdslint/xdslint/graph"

// Diagnostic is one finding.
type Diagnostic struct {
	Rule     *Rule
	Severity Severity
	Message  string   // one line, without a full stop
	Notes    []string // what the data plane does
	Help     string   // what to write instead
	Upstream string   // the core of the data plane's own message, to find it in a log; see Rejected
	Rejected bool     // the target rejects the resource, as delivered; verdicts depend on this
	Unless   string   // it rejects the resource unless this holds, which the input does not show: "it is started with --flag"

	Resource *graph.Resource
	Path     *graph.Path // the field, from the resource's message
	Span     graph.Span  // zero if the input has no text
	Related  []Related
	Fixes    []Fix

	// More is set on a finding that is in place of others: a run does not keep all findings of a rule if there are very
	// many. It is their number.
	More int

	guess *guess // nil: none, or done
}

// Related is another place that a finding refers to.
type Related struct {
	Message  string
	Resource *graph.Resource
	Path     *graph.Path
	Span     graph.Span
}

// Fix is one way to correct a finding.
type Fix struct {
	Message string
	Safe    bool // no request that succeeds today can fail after it
	Edits   []Edit
}

// Edit replaces a span of the finding's file.
type Edit struct {
	Span graph.Span
	New  string

	in *graph.Resource // whose text it changes; nil: not known
}

// Count returns the number of findings that this one is in place of: 1, unless More is set.
func (d *Diagnostic) Count() int { return max(1, d.More) }

// Key identifies a finding independently of edits around it. Baselines and fingerprints use it.
type Key struct {
	Rule  string     `json:"rule"`
	Kind  graph.Kind `json:"kind"`
	Name  string     `json:"name"`
	Field string     `json:"field"`
}

// field returns the path of the finding in its resource. For a patch it is the path in the object, which can hold several patches.
func (d *Diagnostic) field() string {
	if d.Resource.Kind == graph.Patch {
		return d.Resource.InObject(d.Path).String()
	}
	return d.Path.String()
}

// Key returns the key of the finding. Findings with equal keys can have different messages and places.
func (d *Diagnostic) Key() Key {
	return Key{Rule: d.Rule.ID(), Kind: d.Resource.Kind, Name: d.Resource.Name, Field: d.field()}
}
