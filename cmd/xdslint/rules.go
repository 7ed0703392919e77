package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/explain"
	"github.com/xdslint/xdslint/internal/nearest"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
)

// ruleFormats are the formats of the list of rules.
var ruleFormats = map[string]func(io.Writer, []*lint.Rule) error{
	"table": rulesTable, "json": rulesJSON, "markdown": rulesMarkdown,
}

func newRules() *cobra.Command {
	var format string
	f := &inputFlags{}
	cmd := &cobra.Command{
		Use: "rules [RULE]…", Short: "List the rules", DisableFlagsInUseLine: true,
		Long: "List all rules, or those that the arguments select: ids, groups, globs over ids.",
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := ruleFormats[format]
			if !ok {
				return unknownFormat(format, []string{"table", "json", "markdown"})
			}
			s, err := f.configuration(cmd.Context())
			if err != nil {
				return err
			}
			known := listed(s)
			for _, selector := range args {
				if err := config.CheckSelector(selector, known); err != nil {
					return err
				}
			}
			chosen := slices.DeleteFunc(known, func(r *lint.Rule) bool {
				return len(args) > 0 && !slices.ContainsFunc(args, r.Match)
			})
			return failed(write(cmd.OutOrStdout(), chosen))
		},
	}
	cmd.Flags().StringVar(&format, "format", "table", "`FORMAT` of the list: table, json, markdown")
	f.addConfig(cmd.Flags())
	f.addPlugins(cmd.Flags())
	complete(cmd, "format", []string{"table", "json", "markdown"})
	return cmd
}

func unknownFormat(name string, known []string) error {
	near := nearest.DidYouMean(name, known)
	if near == "" {
		near = ": " + strings.Join(known, ", ")
	}
	return fmt.Errorf("no format is named %q%s", name, near)
}

// rulesTable lists rules under the titles of their groups; all have the same columns.
func rulesTable(w io.Writer, all []*lint.Rule) error {
	var rows bytes.Buffer
	t := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.ID(), explain.Severities(r, ""), r.Summary)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	lines := strings.SplitAfter(rows.String(), "\n")
	var out bytes.Buffer
	for _, g := range groups(all) {
		title := fmt.Sprintf("%s: %s\n", g.Name, g.Summary)
		if out.Len() > 0 {
			title = "\n" + title
		}
		for i, r := range all {
			if r.Group == g.Name {
				out.WriteString(title + lines[i])
				title = ""
			}
		}
	}
	_, err := out.WriteTo(w)
	return err
}

type ruleJSON struct {
	ID       string                  `json:"id"`
	Group    string                  `json:"group"`
	Severity string                  `json:"severity"`
	Profiles map[lint.Profile]string `json:"profiles"`
	Summary  string                  `json:"summary"`
	Why      string                  `json:"why"`
	Links    []string                `json:"links"`
	URL      string                  `json:"url"`
}

func rulesJSON(w io.Writer, all []*lint.Rule) error {
	out := make([]ruleJSON, len(all))
	for i, r := range all {
		out[i] = ruleJSON{r.ID(), r.Group, r.Severity.String(), profiles(r), r.Summary, explain.Why(r), append([]string{}, r.Links...), report.URL(r)}
	}
	return writeJSON(w, out)
}

// profiles returns the severities of a rule that differ in a profile.
func profiles(r *lint.Rule) map[lint.Profile]string {
	all := map[lint.Profile]string{}
	for p, severity := range r.Profiles {
		all[p] = severity.String()
	}
	return all
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

func rulesMarkdown(w io.Writer, all []*lint.Rule) error {
	_, err := io.WriteString(w, explain.Table(groups(all), all, report.URL))
	return err
}
