package main

import (
	"encoding/json"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/diff"
)

type trafficDiffFlags struct {
	inputFlags
	format string
}

// newTrafficDiff creates the command that compares two snapshots. It is unrelated to --diff of lint, which shows fixes.
func newTrafficDiff() *cobra.Command {
	f := &trafficDiffFlags{inputFlags: inputFlags{comparing: true}}
	cmd := &cobra.Command{
		Use: "diff OLD NEW", Short: "Show what changes for traffic between two configurations", DisableFlagsInUseLine: true,
		Long: `Compare how two configurations handle traffic: hosts, paths, clusters, endpoints, TLS, timeouts.
OLD and NEW are each a file, a folder, a glob or - (one of them): any input of lint, such as a config_dump.
A change of place or name is not a difference: a route table that moves to RDS, or a renamed listener. Neither is a
route that never matches because an earlier one takes every request.

The JSON has these keys. "changes" is a list of {"where", "what", "before", "after"}. "unreached" lists differences
that no traffic reaches. "shadowed" lists routes that differ and never match on one side or both, as {"where",
"change", "by"}. "unknown" lists what only one side contains. "where" has those of the keys listener, address, chain,
table, scope, host, route, cluster, endpoint and resource that name the place. "before" and "after" are null if there
is no value on that side, and "set" for a value that is not shown. Keys are added, never renamed.

Exit status: 0 nothing changes for traffic, 1 traffic changes, 2 the command line is wrong, 3 xdslint failed.`,
		Example: `  xdslint diff config_dump.json configs/
  xdslint diff --format json old/ new/`,
		Args: oldAndNew,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	f.addRecording(cmd.Flags())
	grouped(cmd.Flags(), outputGroup, func() {
		cmd.Flags().StringVar(&f.format, "format", "text", "`FORMAT` of the differences: text, json")
	})
	complete(cmd, "format", differences)
	return cmd
}

// differences are the formats of the command.
var differences = []string{"text", "json"}

func (f *trafficDiffFlags) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains(differences, f.format) {
		return unknownFormat(f.format, differences)
	}
	o, err := settings(cmd.Context(), f)
	if err != nil {
		return err
	}
	l, sides, err := f.sides(cmd, o, args)
	if err != nil {
		return err
	}
	var snapshots [2]*graph.Snapshot
	var unread []string
	for i, side := range sides {
		snapshot, places, err := l.Snapshot(cmd.Context(), side)
		if err != nil {
			return compared(cmd.Context(), err)
		}
		snapshots[i], unread = snapshot, append(unread, places...)
	}
	d := diff.Diff(snapshots[0], snapshots[1])
	d.Unknown = append(d.Unknown, unread...)
	if err := writeTrafficDiff(cmd.OutOrStdout(), f.format, d); err != nil {
		return failed(err)
	}
	if len(d.Changes) > 0 {
		return &status{statusFindings, nil}
	}
	return nil
}

func writeTrafficDiff(w io.Writer, format string, d *diff.Difference) error {
	if format == "text" {
		return d.Text(w)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(d)
}
