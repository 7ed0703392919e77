package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/conform"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/pull"
)

type conformFlags struct {
	clientFlags
	change, format string
	wait           time.Duration
}

var conformFormats = []string{"text", "json"}

func newConform() *cobra.Command {
	f := &conformFlags{}
	cmd := &cobra.Command{
		Use: "conform", Short: "Test whether a management server keeps the xDS protocol",
		Long: `conform is a client of a management server that behaves, and one that does not: it subscribes and unsubscribes, rejects
responses, sends stale nonces, reconnects and reads slowly, over SotW and Delta, over an aggregated stream and over one
for each type. It asks for what the server serves. It is not for servers in production.

With --change, it also sees updates. It runs COMMAND, without a shell, as

  COMMAND add|change|delete [KIND/NAME]

Without KIND/NAME, COMMAND chooses what it adds: best a cluster with endpoints, and a listener with routes. What it
adds is deleted at the end. If COMMAND fails, the change is left out.

Each clause of the protocol is kept, broken or unseen, for each transport and each type: xdslint explain CLAUSE.

Exit status: 0 no clause of level must or should is broken, 1 such clauses are broken, 2 the command line is wrong,
3 the server cannot be tested.`,
		Example: `  xdslint conform --ads localhost:18000 --plaintext --node edge-1
  xdslint conform --ads localhost:18000 --plaintext --node edge-1 --change ./change.sh --format json`,
		Args: cobra.NoArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.ads, "ads", "", "management server, as `HOST:PORT`")
	f.addClient(flags)
	flags.StringVar(&f.change, "change", "", "`COMMAND` that changes what the server serves, with its first arguments")
	flags.DurationVar(&f.wait, "wait", conform.DefaultWait, "longest `DURATION` for an answer of the server, and for a change")
	flags.StringVar(&f.format, "format", conformFormats[0], "output `FORMAT`: "+strings.Join(conformFormats, ", "))
	complete(cmd, "format", conformFormats)
	return cmd
}

func (f *conformFlags) check() error {
	switch {
	case f.ads == "" || f.node == "":
		return errors.New("conform needs --ads HOST:PORT and --node ID")
	case !slices.Contains(conformFormats, f.format):
		return unknownFormat(f.format, conformFormats)
	case f.wait <= 0:
		return errors.New("--wait must be more than 0")
	}
	return f.checkADS()
}

func (f *conformFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	server, err := f.connection(f.ads)
	if err != nil {
		return err
	}
	o := conform.Options{Wait: f.wait}
	if o.Node, err = f.identity(); err != nil {
		return err
	}
	if argv := strings.Fields(f.change); len(argv) > 0 {
		o.Change = func(ctx context.Context, action, resource string) error { return change(ctx, argv, action, resource) }
	}
	report, err := conform.Run(cmd.Context(), server, o)
	switch {
	case cmd.Context().Err() != nil:
		return failed(errors.New("interrupted"))
	case errors.Is(err, pull.ErrSilent):
		return failed(fmt.Errorf("%s did not answer: is the node %q configured there?", server, o.Node.GetId()))
	case err != nil:
		return failed(err)
	}
	for _, note := range report.Notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "xdslint:", words.Printable(note))
	}
	if f.format == "json" {
		enc := json.NewEncoder(cmd.OutOrStdout())
		enc.SetEscapeHTML(false)
		err = enc.Encode(report)
	} else {
		_, err = cmd.OutOrStdout().Write(report.Text())
	}
	switch {
	case err != nil:
		return failed(err)
	case len(report.Broken()) > 0:
		return &status{statusFindings, nil}
	}
	return nil
}

// change runs the command of --change.
func change(ctx context.Context, argv []string, action, resource string) error {
	argv = append(slices.Clip(argv), action)
	if resource != "" {
		argv = append(argv, resource)
	}
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput() //nolint:gosec // the user's own command
	if text := strings.TrimSpace(string(out)); err != nil && text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}
