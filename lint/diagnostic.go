package lint

import (
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/source"
)

// Diagnostic is one finding.
type Diagnostic struct {
	Rule     *Rule
	Severity Severity
	Message  string   // one line, without a full stop
	Notes    []string // what the data plane does with it
	Help     string   // what to write instead
	Upstream string   // the gist of the data plane's own message, for those who have its log; see Refused
	Refused  bool     // the target refuses it, delivered as it is: what verdicts are made of

	Resource *graph.Resource
	Path     *decode.Path // the field, from the resource's message
	Span     source.Span  // zero where the input has no text
	Related  []Related
	Fixes    []Fix
}

// Related is another place that a finding is about.
type Related struct {
	Message  string
	Resource *graph.Resource
	Path     *decode.Path
	Span     source.Span
}

// Fix is one way to mend a finding.
type Fix struct {
	Message string
	Safe    bool // no request that succeeds today can fail after it
	Edits   []Edit
}

// Edit replaces a span of the finding's file.
type Edit struct {
	Span source.Span
	New  string
}
