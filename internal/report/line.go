package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/xdslint/xdslint/internal/words"
)

// Concise writes one line per finding, in the form that editors can jump to: file:line:column: severity[rule]: message.
func Concise(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	c := newColors(r.Color)
	all := r.diagnostics()
	for i := range all {
		d := &all[i]
		at, where := LocationOf(d.Resource.File, d.Span), ""
		if at.Start != nil {
			where = fmt.Sprintf(":%d:%d", at.Start.Line, at.Start.Column)
		}
		fmt.Fprintf(out, "%s%s: %s: %s", words.Name(at.File), where, c.severity[d.Severity].Sprintf("%s[%s]", d.Severity, d.Rule.ID()), d.Message)
		if in := In(d.Resource, d.Path); where == "" && in != "" {
			fmt.Fprintf(out, " (%s)", in)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// GitHub writes the workflow commands that annotate lines of a pull request.
func GitHub(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	all := r.diagnostics()
	for i := range all {
		d := &all[i]
		at := LocationOf(d.Resource.File, d.Span)
		level := d.Severity.String()
		if level == "info" {
			level = "notice"
		}
		fmt.Fprintf(out, "::%s file=%s", level, githubProperty(words.Name(at.File)))
		if at.Start != nil {
			fmt.Fprintf(out, ",line=%d,col=%d,endLine=%d,endColumn=%d", at.Start.Line, at.Start.Column, at.End.Line, at.End.Column)
		}
		text := details(d, r.Target.Plane)
		if in := In(d.Resource, d.Path); in != "" {
			text += "\nin: " + in
		}
		fmt.Fprintf(out, ",title=%s::%s\n", githubProperty(d.Rule.ID()), githubData(text))
	}
	return out.Flush()
}

var (
	inData     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	inProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func githubData(s string) string { return inData.Replace(s) }

func githubProperty(s string) string { return inProperty.Replace(s) }
