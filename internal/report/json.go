package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// The shapes of JSON and JSONL. They are stable: fields are added, but never renamed or removed, and keep their meaning.
type (
	// Summary counts.
	Summary struct {
		Errors   int `json:"errors"`
		Warnings int `json:"warnings"`
		Infos    int `json:"infos"`
		Hidden
		Files
		Failures int `json:"failures"` // rules that panicked
	}
	// Finding is a diagnostic as JSON has it.
	Finding struct {
		Rule     string        `json:"rule"`
		Severity string        `json:"severity"`
		Message  string        `json:"message"`
		Notes    []string      `json:"notes,omitempty"`
		Help     string        `json:"help,omitempty"`
		Resource jsonResource  `json:"resource"`
		Field    string        `json:"field"`
		Location Location      `json:"location"`
		Related  []jsonRelated `json:"related"`
		Fixes    []jsonFix     `json:"fixes"`
		URL      string        `json:"url"`
		More     int           `json:"more,omitempty"` // how many findings of the rule this one is in place of
	}
	jsonResource struct {
		Kind   graph.Kind `json:"kind"`
		Name   string     `json:"name"`
		Object string     `json:"object,omitempty"` // a Kubernetes object, such as "EnvoyFilter shop/retries"
		Within string     `json:"within,omitempty"` // its path in the object: spec.configPatches[0].patch.value
	}
	jsonRelated struct {
		Message  string       `json:"message"`
		Resource jsonResource `json:"resource"`
		Field    string       `json:"field"`
		Location Location     `json:"location"`
	}
	jsonFix struct {
		Message string     `json:"message"`
		Safe    bool       `json:"safe"`
		Edits   []jsonEdit `json:"edits"`
	}
	jsonEdit struct {
		Start Position `json:"start"`
		End   Position `json:"end"`
		New   string   `json:"new"`
	}
)

// Location is a span in JSON. If the input has no text, it has only the file.
type Location struct {
	File  string    `json:"file"`
	Start *Position `json:"start,omitempty"`
	End   *Position `json:"end,omitempty"`
}

// Place is FILE:LINE:COLUMN, or the file.
func (l Location) Place() string {
	if l.Start == nil {
		return words.Name(l.File)
	}
	return fmt.Sprintf("%s:%d:%d", words.Name(l.File), l.Start.Line, l.Start.Column)
}

// Position has a line and a column (in code points), both from 1, and an offset in bytes from 0.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Offset int `json:"offset"`
}

func position(f *source.File, offset int) Position { return Position(f.Position(offset)) }

// LocationOf returns the location of a span of a file.
func LocationOf(f *source.File, span source.Span) Location {
	if span.IsZero() || f.Text == nil {
		return Location{File: f.Name}
	}
	start, end := position(f, span.Start), position(f, span.End)
	return Location{File: f.Name, Start: &start, End: &end}
}

// JSON writes one object: {"diagnostics": […], "summary": {…}}. It encodes one finding after the other, since the output can be much larger than the
// input.
func JSON(w io.Writer, r *Report) error {
	all := r.diagnostics()
	out := bufio.NewWriter(w) // keeps its first error, which Flush returns
	values := newIndenter()
	fmt.Fprint(out, "{\n  \"diagnostics\": [")
	if err := values.list(out, "  ", len(all), func(i int) any { return diagnosticJSON(&all[i]) }); err != nil {
		return err
	}
	fmt.Fprint(out, "],")
	if err := values.write(out, "\n  \"summary\": ", "  ", r.Summary()); err != nil {
		return err
	}
	fmt.Fprintln(out, "\n}")
	return out.Flush()
}

// Summary returns the counts of a report.
func (r *Report) Summary() Summary {
	n := counts(r.Diagnostics)
	return Summary{Errors: n[lint.Error], Warnings: n[lint.Warning], Infos: n[lint.Info], Hidden: r.Hidden, Files: r.Files, Failures: len(r.Failures)}
}

// indenter writes values as indented JSON. Its memory serves all of them.
type indenter struct {
	text bytes.Buffer
	enc  *json.Encoder
}

func newIndenter() *indenter {
	i := &indenter{}
	i.enc = encoder(&i.text)
	return i
}

// write writes a value, behind what comes before it, with a prefix in each line but the first.
func (i *indenter) write(w io.Writer, before, prefix string, v any) error {
	i.text.Reset()
	i.enc.SetIndent(prefix, "  ")
	if err := i.enc.Encode(v); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s%s", before, bytes.TrimSuffix(i.text.Bytes(), []byte("\n")))
	return err
}

// list writes the elements of a list whose own lines have a prefix, without its brackets.
func (i *indenter) list(w io.Writer, prefix string, elements int, element func(int) any) error {
	separator, behind := "", ""
	for at := range elements {
		if err := i.write(w, separator+"\n"+prefix+"  ", prefix+"  ", element(at)); err != nil {
			return err
		}
		separator, behind = ",", "\n"+prefix
	}
	_, err := io.WriteString(w, behind)
	return err
}

// Findings returns the findings of a result in the form of JSON, without secrets.
func Findings(result *lint.Result) []Finding {
	all := Redacted(result)
	findings := make([]Finding, len(all))
	for i := range all {
		findings[i] = diagnosticJSON(&all[i])
	}
	return findings
}

// JSONL writes one object per line, each an element of JSON's "diagnostics".
func JSONL(w io.Writer, r *Report) error {
	enc := encoder(w)
	all := r.diagnostics()
	for i := range all {
		if err := enc.Encode(diagnosticJSON(&all[i])); err != nil {
			return err
		}
	}
	return nil
}

func encoder(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

func diagnosticJSON(d *lint.Diagnostic) Finding {
	out := Finding{
		Rule: d.Rule.ID(), Severity: d.Severity.String(), Message: d.Message, Notes: d.Notes, Help: d.Help,
		Resource: resourceJSON(d.Resource), Field: fieldJSON(d.Path), Location: LocationOf(d.Resource.File, d.Span),
		Related: make([]jsonRelated, len(d.Related)), Fixes: make([]jsonFix, len(d.Fixes)), URL: URL(d.Rule), More: d.More,
	}
	for i, r := range d.Related {
		out.Related[i] = jsonRelated{r.Message, resourceJSON(r.Resource), fieldJSON(r.Path), LocationOf(r.Resource.File, r.Span)}
	}
	for i, fix := range d.Fixes {
		out.Fixes[i] = jsonFix{fix.Message, fix.Safe, make([]jsonEdit, len(fix.Edits))}
		for j, e := range fix.Edits {
			f := d.Resource.File
			out.Fixes[i].Edits[j] = jsonEdit{position(f, e.Span.Start), position(f, e.Span.End), e.New}
		}
	}
	return out
}

func resourceJSON(r *graph.Resource) jsonResource {
	out := jsonResource{Kind: r.Kind, Name: r.Name}
	if r.Object != nil {
		out.Object, out.Within = r.Object.String(), r.Within.String()
		if r.Object.Secret() {
			out.Name = ""
		}
	}
	return out
}

func fieldJSON(p *tree.Path) string { return p.String() }

// URL returns the address of a rule's page. For a custom rule it is the first link, or "" if there is none.
func URL(r *lint.Rule) string {
	switch {
	case r.Origin == nil:
	case len(r.Links) > 0:
		return r.Links[0]
	default:
		return ""
	}
	return "https://github.com/xdslint/xdslint/blob/main/docs/rules/" + r.ID() + ".md"
}
