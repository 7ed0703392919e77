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
	t.line("%s", first(r))
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

func first(r *Request) string {
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
		text := "  filter " + words.Name(f.Name)
		switch f.Does {
		case "unknown":
			text += " is not decided"
		case "disabled":
			text += " is disabled"
		default:
			text += " " + f.Does
		}
		if f.Config != "" {
			text += ", as " + f.Config + " says"
		}
		t.line("%s", text)
	}
}

// outcome writes who answers what.
func (t *teller) outcome(a *Answer) {
	if a.Unknown[unknownStatus] != "" && a.Details != "" {
		t.line("Unless a filter answers, this happens:")
	}
	switch {
	case a.Cluster != nil:
		t.line("  cluster %s", words.Name(*a.Cluster))
		t.upstream(a)
	case len(a.Weighted) > 0:
		for _, name := range slices.Sorted(maps.Keys(a.Weighted)) {
			t.line("  cluster %s, for %.4g%% of the requests", words.Name(name), 100*a.Weighted[name].Share)
		}
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
	for _, e := range a.Endpoints {
		where := fmt.Sprintf("priority %d", e.Priority)
		if e.Locality != "" {
			where += ", " + e.Locality
		}
		t.line("    %s: %s", where, words.Few(e.Addresses, 5))
	}
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
