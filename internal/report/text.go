package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/fatih/color"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/grpc"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// TextOptions are the options of Text.
type TextOptions struct {
	Color   bool
	Summary string // the last line
}

// Text writes findings for people, each with its line of the file and with what to do. The format may change; programs read JSON.
func Text(w io.Writer, result *lint.Result, opts TextOptions) error {
	t := &text{w: bufio.NewWriter(w), colors: newColors(opts.Color), secrets: secretsIn(result), plane: result.Target.Plane}
	all := redacted(result, t.secrets)
	for i := range all {
		if i > 0 {
			fmt.Fprintln(t.w)
		}
		t.diagnostic(&all[i])
	}
	if opts.Summary != "" {
		if len(all) > 0 {
			fmt.Fprintln(t.w)
		}
		fmt.Fprintln(t.w, opts.Summary)
	}
	return t.w.Flush()
}

// colors of the parts of a report.
type colors struct {
	severity   [4]*color.Color
	bold, help *color.Color
	frame      *color.Color // gutter and arrows
}

func newColors(on bool) *colors {
	c := &colors{
		severity: [4]*color.Color{
			lint.Info:    color.New(color.FgCyan, color.Bold),
			lint.Warning: color.New(color.FgYellow, color.Bold),
			lint.Error:   color.New(color.FgRed, color.Bold),
		},
		bold: color.New(color.Bold), help: color.New(color.FgGreen, color.Bold), frame: color.New(color.FgBlue, color.Bold),
	}
	for _, one := range []*color.Color{c.severity[lint.Info], c.severity[lint.Warning], c.severity[lint.Error], c.bold, c.help, c.frame} {
		if on {
			one.EnableColor()
		} else {
			one.DisableColor()
		}
	}
	return c
}

type text struct {
	w        *bufio.Writer
	colors   *colors
	secrets  *redact.Files
	plane    string // whose words Upstream are
	gutter   int    // width of the line numbers of one finding
	snippets snippets
}

func (t *text) diagnostic(d *lint.Diagnostic) {
	t.gutter = lineDigits(d.Resource.File, d.Span)
	for _, r := range d.Related {
		t.gutter = max(t.gutter, lineDigits(r.Resource.File, r.Span))
	}
	tint := t.colors.severity[d.Severity]
	fmt.Fprintf(t.w, "%s%s\n", tint.Sprintf("%s[%s]", d.Severity, d.Rule.ID()), t.colors.bold.Sprintf(": %s", d.Message))
	t.place(d.Resource.File, d.Span, tint)
	if in := In(d.Resource, d.Path); in != "" {
		t.note("in: " + in)
	}
	for _, note := range d.Notes {
		t.note(note)
	}
	if d.Upstream != "" {
		t.note(speaker(d, t.plane) + " says: " + d.Upstream)
	}
	for _, r := range d.Related {
		fmt.Fprintf(t.w, "%s: %s\n", t.colors.frame.Sprint("note"), r.Message)
		t.place(r.Resource.File, r.Span, t.colors.frame)
		if r.Resource != d.Resource {
			if in := In(r.Resource, r.Path); in != "" {
				t.note("in: " + in)
			}
		}
	}
	if d.Help != "" {
		fmt.Fprintf(t.w, "%s: %s\n", t.colors.help.Sprint("help"), d.Help)
	}
}

// speaker returns the data plane whose words a finding has. Of gRPC, only grpc-go is quoted.
func speaker(d *lint.Diagnostic, plane string) string {
	switch {
	case d.Rule.Family == dataplane.GRPC:
		return grpc.Go
	case plane == "" || d.Rule.Family == dataplane.Envoy:
		plane = string(dataplane.Envoy)
	}
	return dataplane.Target{Plane: plane}.Actor()
}

// In names a resource and a field of it: cluster "backend" › load_assignment. It is empty if only the file is known. A Kubernetes object comes first:
// EnvoyFilter shop/retries › spec.configPatches[0].patch.value.
func In(r *graph.Resource, path *tree.Path) string {
	in, own := "", ""
	if r.Object != nil {
		in = joined(r.Object.String(), r.InObject(path).String())
	}
	switch {
	case r.Kind == graph.Patch || r.Outside() && r.Object != nil && r.Within == nil:
		return words.Printable(in)
	case r.Kind == graph.File:
	case r.Name == "" || r.Object.Secret():
		own = string(r.Kind)
	default:
		own = string(r.Kind) + " " + strconv.Quote(words.Short(r.Name))
	}
	return words.Printable(joined(in, own, path.String()))
}

func joined(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), " › ")
}

func (t *text) note(s string) {
	for i, line := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		sign := "="
		if i > 0 {
			sign = " "
		}
		fmt.Fprintf(t.w, "%*s %s %s\n", t.gutter, "", t.colors.frame.Sprint(sign), line)
	}
}

// place writes the place of a span, and its line with carets below.
func (t *text) place(f *source.File, span source.Span, tint *color.Color) {
	arrow := t.colors.frame.Sprint("-->")
	if span.IsZero() || f.Text == nil {
		fmt.Fprintf(t.w, "%*s%s %s\n", t.gutter, "", arrow, words.Name(f.Name))
		return
	}
	at := f.Position(span.Start)
	fmt.Fprintf(t.w, "%*s%s %s:%d:%d\n", t.gutter, "", arrow, words.Name(f.Name), at.Line, at.Column)
	if f.Unrecognised {
		return
	}
	bar := t.colors.frame.Sprint("|")
	line, start := f.Line(at.Line)
	number := t.colors.frame.Sprintf("%*d", t.gutter, at.Line)
	if t.secrets.Of(f).Hides(line, start) {
		fmt.Fprintf(t.w, "%*s %s\n%s %s line not shown: it holds a secret\n", t.gutter, "", bar, number, bar)
		return
	}
	shown, before, width := t.snippets.of(line, span.Start-start, span.End-start)
	if strings.TrimSpace(shown) == "" {
		return
	}
	fmt.Fprintf(t.w, "%*s %s\n%s %s %s\n", t.gutter, "", bar, number, bar, shown)
	fmt.Fprintf(t.w, "%*s %s %*s%s\n", t.gutter, "", bar, before, "", tint.Sprint(strings.Repeat("^", width)))
}

func lineDigits(f *source.File, span source.Span) int {
	if span.IsZero() || f.Text == nil {
		return 1
	}
	return len(strconv.Itoa(f.Position(span.Start).Line))
}
