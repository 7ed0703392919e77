package main

import (
	"encoding/json"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/diff"
	"github.com/xdslint/xdslint/internal/prove"
)

type trafficDiffFlags struct {
	inputFlags
	format             string
	prove, byEndpoints bool
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

With --prove, xdslint decides whether OLD and NEW treat all requests alike: all, and not a sample. If they do not, it
lists requests that are treated differently, each with both answers and a curl command. Requests and answers have the
form of "route --requests". What could not be decided is listed. Names of routes, virtual hosts and filter chains do not
matter. The JSON has the keys "alike", "differences", a list of {"request", "fields", "old", "new", "curl"}, and
"undecided".

Exit status: 0 nothing changes for traffic, 1 traffic changes or, with --prove, something is not decided, 2 the command
line or the configuration is wrong, 3 xdslint failed.`,
		Example: `  xdslint diff config_dump.json configs/
  xdslint diff --format json old/ new/
  xdslint diff --prove --by-endpoints config_dump.json configs/`,
		Args: oldAndNew,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.add(cmd)
	f.addRecording(cmd.Flags())
	grouped(cmd.Flags(), outputGroup, func() {
		cmd.Flags().StringVar(&f.format, "format", "text", "`FORMAT` of the differences: text, json")
	})
	cmd.Flags().BoolVar(&f.prove, "prove", false, "decide whether all requests are treated alike")
	cmd.Flags().BoolVar(&f.byEndpoints, "by-endpoints", false, "with --prove, clusters with different names are the same if all else about them is")
	complete(cmd, "format", differences)
	return cmd
}

// differences are the formats of the command.
var differences = []string{"text", "json"}

func (f *trafficDiffFlags) run(cmd *cobra.Command, args []string) error {
	switch {
	case !slices.Contains(differences, f.format):
		return unknownFormat(f.format, differences)
	case f.byEndpoints && !f.prove:
		return errors.New("--by-endpoints belongs to --prove")
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
	shown, same := f.compare(snapshots[0], snapshots[1], unread)
	if err := writeTrafficDiff(cmd.OutOrStdout(), f.format, shown); err != nil {
		return failed(err)
	}
	if !same {
		return &status{statusFindings, nil}
	}
	return nil
}

// compare returns what is shown of two snapshots, and whether they are the same. unread has what could not be read.
func (f *trafficDiffFlags) compare(before, after *graph.Snapshot, unread []string) (shown texter, same bool) {
	if f.prove {
		p := prove.Prove(before, after, prove.Options{ByEndpoints: f.byEndpoints})
		p.Undecided = append(p.Undecided, unread...)
		p.Alike = p.Alike && len(unread) == 0
		return p, p.Alike
	}
	d := diff.Diff(before, after)
	d.Unknown = append(d.Unknown, unread...)
	return d, len(d.Changes) == 0
}

// texter is what can be written for people, and as JSON.
type texter interface{ Text(w io.Writer) error }

func writeTrafficDiff(w io.Writer, format string, shown texter) error {
	if format == "text" {
		return shown.Text(w)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(shown)
}
