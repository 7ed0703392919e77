package admission

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	cachev3 "github.com/envoyproxy/go-control-plane/pkg/cache/v3"
)

// report counts a decision, logs it, and passes it to Options.Report.
func (g *Gate) report(d Decision, given cachev3.ResourceSnapshot) {
	g.metrics.count(&d)
	if g.options.Log != nil {
		log(g.options.Log, &d, given)
	}
	if g.options.Report != nil {
		g.options.Report(d)
	}
}

// shown is the maximum number of findings in a line of the log. Options.Report gets all.
const shown = 10

// log writes one line about a decision.
func log(to *slog.Logger, d *Decision, given cachev3.ResourceSnapshot) {
	level := slog.LevelWarn
	if d.Outcome == Admitted && !d.TimedOut && len(d.Failures) == 0 && d.Err == nil {
		level = slog.LevelDebug
	}
	if !to.Enabled(context.Background(), level) {
		return
	}
	attrs := []slog.Attr{slog.String("node", d.Node), slog.String("version", versions(given)), slog.Int("known_errors", d.Known)}
	list := func(name string, texts []string) {
		if len(texts) > shown+1 {
			texts = append(texts[:shown:shown], fmt.Sprintf("and %d more", len(texts)-shown))
		}
		if len(texts) > 0 {
			attrs = append(attrs, slog.Any(name, texts))
		}
	}
	var found, withheld, failures []string
	for i := range d.New {
		found = append(found, text(&d.New[i]))
	}
	for _, w := range d.Withheld {
		withheld = append(withheld, w.String())
	}
	for _, f := range d.Failures {
		failures = append(failures, f.Error())
	}
	list("new_errors", found)
	list("withheld", withheld)
	list("failures", failures)
	if d.Err != nil {
		attrs = append(attrs, slog.String("error", d.Err.Error()))
	}
	if d.Rejected != nil {
		attrs = append(attrs, slog.String("rejected", d.Rejected.Error()))
	}
	if d.TimedOut {
		attrs = append(attrs, slog.Bool("timed_out", true))
	}
	to.LogAttrs(context.Background(), level, "xDS snapshot "+string(d.Outcome), attrs...)
}

// versions lists the versions of a snapshot's types, each once.
func versions(s cachev3.ResourceSnapshot) string {
	var all []string
	for _, url := range urls {
		if v := s.GetVersion(url); v != "" && !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return strings.Join(all, ", ")
}
