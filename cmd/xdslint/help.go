package main

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// The groups of flags in the help of a command with many flags.
const (
	inputGroup   = "Input"
	worldGroup   = "What exists besides the input"
	rulesGroup   = "Rules and configuration"
	requestGroup = "Request"
	outputGroup  = "Output"
	fixGroup     = "Fixes"
	pushGroup    = "Push"
	serverGroup  = "Server"
)

const (
	groupKey = "group"
	fewFlags = 8 // up to this number there are no groups
)

// grouped puts the flags that add adds into a group. Help lists flags as they are added.
func grouped(flags *pflag.FlagSet, group string, add func()) {
	flags.SortFlags = false
	before := map[string]bool{}
	flags.VisitAll(func(f *pflag.Flag) { before[f.Name] = true })
	add()
	flags.VisitAll(func(f *pflag.Flag) {
		if !before[f.Name] && len(f.Annotations[groupKey]) == 0 {
			_ = flags.SetAnnotation(f.Name, groupKey, []string{group}) // the flag exists
		}
	})
}

// plainUsage is cobra's usage function. (A custom template would link package text/template, and with it every method of every message.)
var plainUsage = new(cobra.Command).UsageFunc()

// usage writes the usage of a command, with its flags in groups.
func usage(cmd *cobra.Command) error {
	out := cmd.OutOrStderr()
	var text bytes.Buffer
	cmd.SetOut(&text)
	err := plainUsage(cmd)
	cmd.SetOut(out)
	if err != nil {
		return err
	}
	shown := text.String()
	if cmd.HasParent() && cmd.HasAvailableSubCommands() {
		shown = strings.Replace(shown, "\n  "+cmd.UseLine()+"\n", "\n", 1) // by itself, it is a mistake
	}
	flat := "Flags:\n" + strings.TrimRight(cmd.LocalFlags().FlagUsages(), " \n")
	_, err = io.WriteString(out, strings.Replace(shown, flat, flagGroups(cmd.LocalFlags(), flat), 1))
	return err
}

// flagGroups returns the lines of flags under the titles of their groups, in the order in which the groups were added.
func flagGroups(flags *pflag.FlagSet, flat string) string {
	lines := strings.Split(flat, "\n")[1:]
	if len(lines) <= fewFlags {
		return flat
	}
	var titles []string
	byTitle := map[string][]string{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		title := "Other flags"
		if group := f.Annotations[groupKey]; len(group) > 0 {
			title = group[0]
		}
		if !slices.Contains(titles, title) {
			titles = append(titles, title)
		}
		byTitle[title] = append(byTitle[title], lines[0])
		lines = lines[1:]
	})
	if len(titles) == 1 {
		return flat
	}
	sections := make([]string, len(titles))
	for i, title := range titles {
		sections[i] = title + ":\n" + strings.Join(byTitle[title], "\n")
	}
	return strings.Join(sections, "\n\n")
}
