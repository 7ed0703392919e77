package version

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/schema/reading"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "deprecated",
	Severity: lint.Warning,
	Summary:  "a field or enum value that the API marks as deprecated",
	Why: `Envoy takes it and logs a warning ("Using deprecated option '…'"; ` + "`MessageUtil::checkForUnexpectedFields`" + `). Deprecated
fields turn fatal by default, and then go away. Where the API has a replacement, the finding names it.

Only what is set is reported, and only what Envoy reads.`,
	Links: []string{"https://www.envoyproxy.io/docs/envoy/latest/version_history/version_history"},
	Run:   lint.EachMessage(func(p *lint.Pass, at lint.At, m protoreflect.Message) { reportDeprecated(p, at.Place, usesOf(m)) }),
})

func reportDeprecated(p *lint.Pass, at *graph.Place, uses []use) {
	if len(uses) == 0 {
		return
	}
	if validated, _ := reading.Validated(p.Target.Extensions(), at); !validated {
		return
	}
	flags := runtimeOf(p.Snapshot)
	for _, u := range uses {
		if u.unset || u.refused(flags) && fatal(p, at) || u.field.Name() == "transport_api_version" {
			continue // version/disallowed, version/v2
		}
		if then, differs := p.Target.Options(u.field.FullName()); differs && u.value == nil && !then.GetDeprecated() {
			continue
		}
		where := lint.PlaceAt(at).Field(string(u.field.Name()))
		d := lint.Diagnostic{
			Message:  u.message(),
			Notes:    []string{"envoy logs a warning for now"},
			Help:     u.replacement(),
			Upstream: u.upstream(),
		}
		if u.value == nil {
			where = where.Key()
			if fix, ok := u.fix(at); ok {
				d.Fixes = []lint.Fix{fix}
			}
		}
		p.Report(where, d)
	}
}

func (u use) replacement() string {
	if u.value != nil {
		return replacements[string(u.value.FullName())]
	}
	return replacements[string(u.field.FullName())]
}

// wrap is a replacement that means exactly the same: another field, whose value holds the old one.
type wrap struct {
	field string
	inner []string // the fields of the new value, down to the old one
}

// fix writes the replacement in the place of a field with a scalar value.
func (u use) fix(at *graph.Place) (fix lint.Fix, ok bool) {
	w, ok := wraps[string(u.field.FullName())]
	if !ok || at.Message.Has(at.Message.Descriptor().Fields().ByName(protoreflect.Name(w.field))) {
		return fix, false
	}
	found := at.Resource.Locate(at.Path.Field(string(u.field.Name())))
	text := at.Resource.File.Text
	if !found.Exact || found.Key.IsZero() || found.Value.End > len(text) {
		return fix, false
	}
	value := text[found.Value.Start:found.Value.End]
	key := text[found.Key.Start:found.Key.End]
	if bytes.ContainsAny(value, "\n#,[]{}&*!|>") || len(value) == 0 {
		return fix, false // not a value that can stand in a flow map
	}
	quoted := key[0] == '"'
	name := func(field string) string {
		if quoted {
			return fmt.Sprintf("%q", field)
		}
		return field
	}
	out := string(value)
	for i := len(w.inner) - 1; i >= 0; i-- {
		out = fmt.Sprintf("{%s: %s}", name(w.inner[i]), out)
	}
	edits := []lint.Edit{{Span: found.Key, New: name(w.field)}, {Span: found.Value, New: out}}
	return lint.Fix{Message: fmt.Sprintf("write %s", w.field), Safe: true, Edits: edits}, true
}
