package walk

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/redact"
	"github.com/xdslint/xdslint/internal/words"
)

// Text writes the answer for people. It reads aloud from the listener to what comes back.
func (a *Answer) Text(w io.Writer, r *Request) error {
	t := &teller{}
	t.line("%s", r.Title())
	t.place(a)
	t.filters(a)
	t.outcome(a)
	t.unknown(a)
	_, err := io.WriteString(w, words.Printable(t.String()))
	return err
}

// Way returns the part of the text from the listener to the route, with the candidates that do not take the request.
func (a *Answer) Way() string {
	t := &teller{}
	t.place(a)
	return words.Printable(t.String())
}

// Title returns the request in a line.
func (r *Request) Title() string {
	text := r.Method + " "
	if r.Authority != nil {
		text += *r.Authority
	}
	if r.Path != nil {
		text += *r.Path
	}
	return redact.Looks(text)
}

type teller struct{ strings.Builder }

func (t *teller) line(format string, args ...any) { fmt.Fprintf(t, format+"\n", args...) }

// place writes where the request goes.
func (t *teller) place(a *Answer) {
	for _, level := range []struct{ kind, name string }{
		{"listener", a.Listener}, {"filter chain", a.Chain}, {"scope", a.Scope}, {"route configuration", a.Table}, {"virtual host", a.VirtualHost}, {"route", a.Route},
	} {
		if level.name != "" {
			t.line("  %s %s", level.kind, words.Name(level.name))
		}
		for _, p := range a.Passed {
			if p.Kind == level.kind {
				t.line("    not %s: %s", p.Name, p.Why)
			}
		}
	}
}

// filters writes what the HTTP filters do.
func (t *teller) filters(a *Answer) {
	for _, f := range a.Filters {
		t.line("  filter %s %s", words.Name(f.Name), f.Says())
	}
}

// Says is what a filter does, as the end of a sentence.
func (f *FilterStep) Says() string {
	text := f.Does
	switch f.Does {
	case "unknown":
		text = "is not decided"
	case "disabled":
		text = "is disabled"
	}
	if f.Config != "" {
		text += ", as " + f.Config + " says"
	}
	return text
}

// Doubtful reports whether a filter may answer that is not known to, so that the outcome is what happens otherwise.
func (a *Answer) Doubtful() bool { return a.Unknown[unknownStatus] != "" && a.Details != "" }

// Outcome returns who answers what in a line, and what else happens to the request and the response in others.
func (a *Answer) Outcome() []string {
	t := &teller{}
	t.result(a)
	lines := strings.Split(strings.TrimSpace(words.Printable(t.String())), "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return lines
}

// outcome writes who answers what, below the clusters.
func (t *teller) outcome(a *Answer) {
	if a.Doubtful() {
		t.line("Unless a filter answers, this happens:")
	}
	if a.Cluster != nil {
		t.line("  cluster %s", words.Name(*a.Cluster))
		for i := range a.Endpoints {
			t.line("    %s: %s", a.Endpoints[i].Where(), words.Few(a.Endpoints[i].Addresses, 5))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(a.Weighted)) {
		t.line("  cluster %s, %s", words.Name(name), a.Weighted[name].Says())
	}
	t.result(a)
}

// Where is the priority and the locality.
func (e *Endpoints) Where() string {
	where := fmt.Sprintf("priority %d", e.Priority)
	if e.Locality != "" {
		where += ", " + e.Locality
	}
	return where
}

// Says is the share in words.
func (s *Share) Says() string { return fmt.Sprintf("for %.4g%% of the requests", 100*s.Share) }

func (t *teller) result(a *Answer) {
	switch {
	case a.Cluster != nil, len(a.Weighted) > 0:
		t.upstream(a)
	case a.Unknown[unknownStatus] != "" && a.Status == nil:
		t.line("The answer is not known.")
	case a.Status == nil:
		t.line("Envoy closes the connection%s.", reason(a))
		if a.Closed != "" {
			t.line("  %s", a.Closed)
		}
	default:
		t.line("Envoy answers %d%s.", *a.Status, reason(a))
	}
	if a.Location != nil {
		t.line("  location: %s", *a.Location)
	}
	t.changes("the response", a.ResponseAdded, a.ResponseRemoved)
	if a.Body != nil {
		t.line("  body: %s", words.Line(*a.Body))
	}
}

func reason(a *Answer) string {
	var parts []string
	if a.Details != "" {
		parts = append(parts, a.Details)
	}
	if a.Flags != "-" && a.Flags != "" {
		parts = append(parts, "flags "+a.Flags)
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// upstream writes what the upstream sees.
func (t *teller) upstream(a *Answer) {
	t.line("The upstream sees %s %s, host %s.", a.Method, a.Path, orUnknown(a, a.Host, unknownHost))
	t.changes("the request", a.Added, a.Removed)
	for _, name := range a.Mirrors {
		t.line("  a copy goes to cluster %s", words.Name(name))
	}
	t.limits(a.Limits)
}

func orUnknown(a *Answer, value, field string) string {
	if a.Unknown[field] != "" {
		return "not known"
	}
	return value
}

func (t *teller) limits(l *Limits) {
	if l == nil {
		return
	}
	text := "  timeout " + l.Timeout + ", idle timeout " + l.IdleTimeout
	if l.RetryOn != "" {
		text += ", retried up to " + words.Count(int(l.Retries), "time") + " on " + l.RetryOn
	}
	if l.PerTry != "" {
		text += ", " + l.PerTry + " for each try"
	}
	if l.Hedging {
		text += ", hedged after a timeout"
	}
	t.line("%s", strings.ReplaceAll(text, "timeout 0s", "no timeout"))
}

func (t *teller) changes(of string, added map[string][]string, removed []string) {
	for _, name := range slices.Sorted(maps.Keys(added)) {
		t.line("  %s gets %s: %s", of, name, strings.Join(added[name], ", "))
	}
	for _, name := range removed {
		t.line("  %s loses %s", of, name)
	}
}

func (t *teller) unknown(a *Answer) {
	for _, field := range slices.Sorted(maps.Keys(a.Unknown)) {
		t.line("Not known: %s, since %s.", field, a.Unknown[field])
	}
}
