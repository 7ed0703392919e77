package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// Text writes the outcome for people. The shape may change; programs read JSON.
func (o *Outcome) Text(w io.Writer, color bool) error {
	hazards, notes := o.hazards()
	for _, part := range []struct {
		title string
		found *lint.Result
	}{{headline(hazards.Diagnostics), hazards}, {"Worth knowing:", notes}} {
		if o.Plan == nil && len(part.found.Diagnostics) == 0 { // NEW is broken, and should not be pushed
			continue
		}
		if part.title != "" && (part.found == hazards || len(part.found.Diagnostics) > 0) {
			fmt.Fprintln(w, part.title+"\n")
		}
		if err := report.Text(w, part.found, report.TextOptions{Color: color}); err != nil {
			return err
		}
		if len(part.found.Diagnostics) > 0 {
			fmt.Fprintln(w)
		}
	}
	if o.Plan == nil {
		return nil
	}
	o.Plan.text(w)
	if len(o.Remaining.Diagnostics) > 0 {
		fmt.Fprint(w, "\nNo order avoids this:\n\n")
		if err := report.Text(w, o.Remaining, report.TextOptions{Color: color}); err != nil {
			return err
		}
	}
	if len(o.Plan.Phases) > 0 {
		fmt.Fprintf(w, "\n%s\n", hitless(len(o.Remaining.Diagnostics)))
	}
	return nil
}

// hitless sums up a plan.
func hitless(remaining int) string {
	if remaining == 0 {
		return "Hitless: pushed like this, no request fails and no connection is cut."
	}
	return fmt.Sprintf("Not hitless: requests can fail or connections be cut, for %s above.", words.Count(remaining, "reason"))
}

func headline(hazards []lint.Diagnostic) string {
	switch len(hazards) {
	case 0:
		return "Pushed all at once, this fails no request that succeeds today."
	case 1:
		return "Pushed all at once, this has a hazard:"
	}
	return fmt.Sprintf("Pushed all at once, this has %d hazards:", len(hazards))
}

func (p *Plan) text(w io.Writer) {
	switch len(p.Phases) {
	case 0:
		if len(p.Restart) == 0 {
			fmt.Fprintln(w, "Nothing to push: both sides are the same.")
		} else {
			fmt.Fprintln(w, "Nothing to push: only the bootstrap differs.")
		}
	case 1:
		fmt.Fprintln(w, "The plan is one push:")
	default:
		fmt.Fprintf(w, "The plan, in %d phases:\n", len(p.Phases))
	}
	for i, phase := range p.Phases {
		if len(p.Phases) > 1 {
			fmt.Fprintf(w, "\n%d. %s\n", i+1, wrap(phase.Why, 3))
		}
		for _, s := range phase.Send {
			fmt.Fprintf(w, "   %-5s %s\n", API(s.Kind), s.text())
		}
		if acks := phase.acks(); acks != "" {
			fmt.Fprintf(w, "   wait  for the ACK of %s\n", acks)
		}
		for _, wait := range phase.Wait {
			if wait.For != ACK {
				fmt.Fprintf(w, "   wait  %s\n", wait.text(p.client()))
			}
		}
	}
	if len(p.Restart) > 0 {
		fmt.Fprintf(w, "\nNo push changes the bootstrap: restart Envoy to change %s.\n", named(p.Restart))
	}
}

// client returns the name of what gets the plan.
func (p *Plan) client() string {
	if p.planner != nil && p.planner.forGRPC() {
		return "the client"
	}
	return "Envoy"
}

func (s Send) text() string {
	byContent := map[Content][]string{}
	for _, u := range s.Update {
		byContent[u.Content] = append(byContent[u.Content], u.Name)
	}
	var parts []string
	for _, part := range []struct {
		what  string
		names []string
	}{{"send", byContent[New]}, {"send as before", byContent[Old]}, {"send touched", byContent[Touched]}, {"remove", s.Remove}} {
		if len(part.names) > 0 {
			parts = append(parts, part.what+" "+list(part.names))
		}
	}
	for _, u := range s.Update {
		for _, t := range u.Touched {
			parts = append(parts, fmt.Sprintf("%s has %s: %s", u.Name, t.Field, t.Value))
		}
	}
	return strings.Join(parts, "; ")
}

// acks returns what Envoy has to ACK: CDS with a, b and without c.
func (p Phase) acks() string {
	var parts []string
	for _, w := range p.Wait {
		if w.For != ACK {
			continue
		}
		var with, without []string
		for _, name := range w.Names {
			if p.removes(Resource{w.Kind, name}) {
				without = append(without, name)
			} else {
				with = append(with, name)
			}
		}
		text := API(w.Kind)
		if len(with) > 0 {
			text += " with " + list(with)
		}
		if len(without) > 0 {
			text += " without " + list(without)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func (p Phase) removes(r Resource) bool {
	return slices.ContainsFunc(p.Send, func(s Send) bool { return s.Kind == r.Kind && slices.Contains(s.Remove, r.Name) })
}

// text describes a wait for a data plane.
func (w Wait) text(by string) string {
	if w.For == Unsubscribe {
		return fmt.Sprintf("until %s no longer asks %s for %s (%s at most)", by, API(w.Kind), list(w.Names), short(w.Timeout))
	}
	return fmt.Sprintf("until the old connections of %s are closed (%s at most; sooner if total_listeners_draining and total_filter_chains_draining of listener_manager are 0)",
		list(w.Names), short(w.Timeout))
}

// width is the width of a line of text.
const width = 120

// wrap breaks a text into lines, the second and later ones indented.
func wrap(text string, indent int) string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width-indent {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return strings.Join(append(lines, line), "\n"+strings.Repeat(" ", indent))
}
