package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fatih/color"
	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

func newExplain() *cobra.Command {
	f := &inputFlags{}
	var format string
	pages := []string{"text", "markdown"}
	cmd := &cobra.Command{
		Use: "explain RULE", Short: "Explain what a rule finds and why it matters", Args: oneRule, DisableFlagsInUseLine: true,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return f.ruleIDs(cmd, listed), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			page, ok := explainFormats[format]
			if !ok {
				return unknownFormat(format, pages)
			}
			s, err := f.configuration(cmd.Context())
			if err != nil {
				return err
			}
			r, err := findRule(args[0], listed(s))
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(cmd.OutOrStdout(), page(r))
			return failed(err)
		},
	}
	cmd.Flags().StringVar(&format, "format", "text", "`FORMAT` of the page: text, markdown")
	f.addConfig(cmd.Flags())
	f.addPlugins(cmd.Flags())
	complete(cmd, "format", pages)
	return cmd
}

// explainFormats are the formats of a rule's page.
var explainFormats = map[string]func(*lint.Rule) string{"text": explanation, "markdown": explain.Page}

func oneRule(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("explain takes one rule; xdslint rules lists them")
	}
	return nil
}

// ruleIDs returns the ids that a shell offers, without custom rules if the configuration is broken.
func (f *inputFlags) ruleIDs(cmd *cobra.Command, of func(*config.Config) []*lint.Rule) []string {
	s, err := f.configuration(cmd.Context())
	if err != nil {
		s = &config.Config{}
	}
	return ids(of(s))
}

func ids(all []*lint.Rule) []string {
	ids := make([]string, len(all))
	for i, r := range all {
		ids[i] = r.ID()
	}
	return ids
}

// findRule finds a rule by its id, or by its name without the group if that is unambiguous.
func findRule(name string, known []*lint.Rule) (*lint.Rule, error) {
	var found []*lint.Rule
	for _, r := range known {
		if r.ID() == name {
			return r, nil
		}
		if r.Name == name {
			found = append(found, r)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return nil, fmt.Errorf("several rules are named %q: %s, %s", name, found[0].ID(), found[1].ID())
	case slices.ContainsFunc(groups(known), func(g *lint.Group) bool { return g.Name == name }):
		return nil, fmt.Errorf("%q is a group; xdslint rules %[1]s lists its rules", name)
	}
	return nil, fmt.Errorf("no rule is named %q%s", name, cmp.Or(nearest.DidYouMean(name, ids(known)), "; xdslint rules lists them"))
}

func explanation(r *lint.Rule) string {
	bold := color.New(color.Bold).SprintFunc()
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s)\n\n%s\n", bold(r.ID()), explain.Severities(r, ""), explain.Sentence(r.Summary))
	if why := explain.Why(r); why != "" {
		fmt.Fprintf(&b, "\n%s", readable(why))
	}
	if e, ok := explain.Of(r); ok {
		e = e.Short()
		fmt.Fprintf(&b, "\n%s\n%s", bold("Example:"), listing(e.Bad))
		fmt.Fprintf(&b, "\n%s\n\n%s", bold(e.Command()+" reports:"), indented(e.Report))
		b.WriteString(seen(e.Seen))
		if len(e.Good) > 0 {
			fmt.Fprintf(&b, "\n%s\n%s", bold("Not reported:"), listing(e.Good))
			b.WriteString(seen(e.GoodSeen))
		}
	}
	links := r.Links
	if r.Origin == nil {
		links = append([]string{report.URL(r)}, links...)
	}
	if len(links) > 0 {
		fmt.Fprintf(&b, "\n%s\n", bold("See also:"))
	}
	for _, link := range links {
		fmt.Fprintf(&b, "  %s\n", link)
	}
	return b.String()
}

// seen shows what a running Envoy does with an example.
func seen(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf("\n%s\n\n%s", color.New(color.Bold).Sprint(explain.SeenOn()+":"), indented(strings.TrimSpace(text)))
}

func listing(files []explain.File) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteByte('\n')
		if len(files) > 1 || f.Text == "" {
			fmt.Fprintf(&b, "  %s:\n", f.Name)
		}
		b.WriteString(indented(f.Text))
	}
	return b.String()
}

func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimRight(text, "\n") + "\n") {
		if line != "\n" {
			b.WriteString("  ")
		}
		b.WriteString(line)
	}
	return b.String()
}
