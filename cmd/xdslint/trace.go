package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

type traceFlags struct {
	lintFlags
}

func newTrace() *cobra.Command {
	f := &traceFlags{}
	cmd := &cobra.Command{
		Use: "trace FILE…", Short: "Show where recorded xDS streams break the protocol", DisableFlagsInUseLine: true,
		Long: `trace judges recordings of xDS streams, as xdslint record makes them: does the control plane keep the protocol, and do
its clients? Each finding is a breach of a clause: a rule of the group protocol. FILE is a part of a recording, or - for
standard input. Several parts of one recording are judged together.

The log of a grpc-go client is judged like a recording (GRPC_GO_LOG_SEVERITY_LEVEL=info,
GRPC_GO_LOG_VERBOSITY_LEVEL=99). So is the log of an Envoy that uses SotW (--component-log-level config:trace), by the
clauses that it shows enough for.

With --select transition, trace reports the hazards of each push to an Envoy: rules of the group transition judge the
change that each response made to what the client had.

Exit status: 0 no findings at or above --fail-on, 1 findings, 2 the command line or a recording is wrong, 3 xdslint
failed.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	f.addConfig(flags)
	flags.StringSliceVar(&f.selects, "select", nil, "judge only by these `CLAUSE`s, or by rules of the group transition: ids, groups, globs over ids; can be repeated")
	flags.StringSliceVar(&f.ignores, "ignore", nil, "do not judge by these `CLAUSE`s; can be repeated")
	for _, name := range []string{"select", "ignore"} {
		completeWith(cmd, name, func() []string { return ids(append(clauses(), rules.Transitional()...)) })
	}
	f.addOutput(cmd)
	return cmd
}

// clauses are the rules by which recordings are judged.
func clauses() []*lint.Rule { return protocol.Rules().Rules() }

func (f *traceFlags) run(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("trace needs a recording, or - for standard input")
	}
	o, err := settings(cmd.Context(), f)
	if err != nil {
		return err
	}
	stdout, files, err := f.parseOutputs()
	if err != nil {
		return err
	}
	texts, err := readRecordings(args)
	if err != nil {
		return err
	}
	r, unjudged, err := xdslint.Trace(cmd.Context(), o, texts)
	if r == nil {
		return err
	}
	if err := write(cmd.OutOrStdout(), stdout, files, r); err != nil {
		return failed(err)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(texts)), holdsMessages) {
		fmt.Fprintln(cmd.ErrOrStderr(), "xdslint: nothing was judged, since no message is recorded")
	}
	if unjudged > 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "xdslint: not judged, since the beginning is not recorded: %s\n", words.Count(unjudged, "stream"))
	}
	switch {
	case err != nil:
		return failed(errors.New("interrupted: the findings are incomplete"))
	case r.Failed():
		return &status{statusFindings, nil}
	}
	return nil
}

// holdsMessages reports whether a recording goes on after its first line.
func holdsMessages(text []byte) bool {
	lines := 0
	for range (&source.File{Text: text}).Records(0) {
		if lines++; lines > 1 {
			return true
		}
	}
	return false
}

// readRecordings reads the files of the command line.
func readRecordings(paths []string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		var err error
		if path == "-" {
			texts[path], err = source.Read(os.Stdin, 0)
		} else {
			texts[path], err = source.ReadFile(path)
		}
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}
