package sdk

import (
	"encoding/json"
	"fmt"

	"github.com/xdslint/xdslint/internal/pluginabi"
)

// Pass is one run of one rule over one snapshot.
type Pass struct {
	Rule     *Rule
	Snapshot *Snapshot

	into *pluginabi.Findings
}

// Finding is what a rule reports at a place.
type Finding struct {
	Message  string   // one line, without a full stop
	Notes    []string // the consequences
	Help     string   // what to write instead
	Severity Severity // Unset: the rule's
	Fixes    []Fix
}

// Fix is one way to fix a finding, with all of its edits. If the text cannot be edited safely (aliases, templates), the fix is dropped.
type Fix struct {
	Message string
	Safe    bool // no request that succeeds today can fail after it: --fix applies it without asking
	Edits   []Edit
}

// Edit is one change of a field. Set and Remove return one.
type Edit struct {
	at  At
	set *string // JSON; nil: the field is removed
}

// Set writes a field: a string, a boolean, a number or, if the field is not set, a map[string]any of these. The field must be in the finding's
// resource, and the message around it must be set. Set panics if the value cannot be encoded as JSON.
func Set(at At, value any) Edit {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%s cannot be set to %v: %v", at.Path, value, err))
	}
	text := string(raw)
	return Edit{at, &text}
}

// Remove removes a field, or an element of a list. It must be in the finding's resource.
func Remove(at At) Edit { return Edit{at: at} }

// Report adds a finding at a place.
func (p *Pass) Report(at At, f Finding) {
	found := &pluginabi.Finding{
		Rule: p.Rule.ID, Resource: at.Resource.index, Path: at.Path,
		Message: f.Message, Notes: f.Notes, Help: f.Help, Severity: pluginabi.Severity(f.Severity),
	}
	for _, fix := range f.Fixes {
		found.Fixes = append(found.Fixes, fix.encode())
	}
	p.into.Findings = append(p.into.Findings, found)
}

// Reportf adds a finding with only a message.
func (p *Pass) Reportf(at At, format string, args ...any) {
	p.Report(at, Finding{Message: fmt.Sprintf(format, args...)})
}

func (f Fix) encode() *pluginabi.Fix {
	fix := &pluginabi.Fix{Message: f.Message, Safe: f.Safe}
	for _, e := range f.Edits {
		edit := &pluginabi.Edit{Path: e.at.Path, Change: &pluginabi.Edit_Remove{Remove: true}}
		if e.set != nil {
			edit.Change = &pluginabi.Edit_Set{Set: *e.set}
		}
		fix.Edits = append(fix.Edits, edit)
	}
	return fix
}
