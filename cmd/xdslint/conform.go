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
	client                 bool
	listen, change, format string
	wait                   time.Duration
}

var conformFormats = []string{"text", "json"}

func newConform() *cobra.Command {
	f := &conformFlags{}
	cmd := &cobra.Command{
		Use: "conform", Short: "Test whether a management server, or a client, keeps the xDS protocol",
		Long: `conform tests a management server. It is a client that keeps the protocol, and then one that does not: it subscribes and
unsubscribes, rejects responses, sends stale nonces, reconnects and reads slowly, over SotW and Delta, over an
aggregated stream and over one for each type. It asks for what the server serves. Do not test a server in production.

With --change, it also sees updates. It runs COMMAND, without a shell, as

  COMMAND add|change|delete [KIND/NAME]

Without KIND/NAME, COMMAND chooses what it adds. A cluster with endpoints and a listener with routes test the most. What
it adds is deleted at the end. If COMMAND fails, the change is left out.

With --client, conform tests clients: an Envoy with any bootstrap, a gRPC client, or another. It is the management
server at --listen, without TLS. Clients get clusters, endpoints, listeners and routes that harm nothing, for all names
that they ask for. Then it sends changes, invalid resources, names twice and resources that no one has asked for, and
ends the streams, so that clients connect again. The test takes about a minute.

The report says for each clause of the protocol, each transport and each type whether it is kept, broken or unseen. For
what a clause demands, see xdslint explain CLAUSE.

Exit status: 0 no clause of level must or should is broken, 1 such clauses are broken, 2 the command line is wrong,
3 the server cannot be tested, or no client has connected.`,
		Example: `  xdslint conform --ads localhost:18000 --plaintext --node edge-1
  xdslint conform --ads localhost:18000 --plaintext --node edge-1 --change ./change.sh --format json
  xdslint conform --client --listen 127.0.0.1:18000`,
		Args: noArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.ads, "ads", "", "management server, as `HOST:PORT`")
	f.addClient(flags)
	flags.StringVar(&f.change, "change", "", "`COMMAND` that changes what the server serves, with its first arguments")
	flags.BoolVar(&f.client, "client", false, "test the clients that connect to --listen")
	flags.StringVar(&f.listen, "listen", "", "with --client: `HOST:PORT` for the clients")
	flags.DurationVar(&f.wait, "wait", conform.DefaultWait, "longest `DURATION` to wait for an answer or a change; with --client, the default is 1m")
	flags.StringVar(&f.format, "format", conformFormats[0], "output `FORMAT`: "+strings.Join(conformFormats, ", "))
	complete(cmd, "format", conformFormats)
	return cmd
}

func (f *conformFlags) check(cmd *cobra.Command) error {
	switch {
	case !slices.Contains(conformFormats, f.format):
		return unknownFormat(f.format, conformFormats)
	case f.wait <= 0:
		return errors.New("--wait must be more than 0")
	case f.client:
		return f.checkClients(cmd)
	case f.listen != "":
		return errors.New("--listen needs --client")
	case f.ads == "" || f.node == "":
		return errors.New("conform needs --ads HOST:PORT and --node ID, or --client and --listen HOST:PORT")
	}
	return f.checkADS()
}

func (f *conformFlags) run(cmd *cobra.Command) error {
	if err := f.check(cmd); err != nil {
		return err
	}
	test := f.server
	if f.client {
		test = f.clients
	}
	report, err := test(cmd)
	if err != nil {
		return err
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

// server tests a management server.
func (f *conformFlags) server(cmd *cobra.Command) (*conform.Report, error) {
	server, err := f.connection(f.ads)
	if err != nil {
		return nil, err
	}
	o := conform.Options{Wait: f.wait}
	if o.Node, err = f.identity(); err != nil {
		return nil, err
	}
	if argv := strings.Fields(f.change); len(argv) > 0 {
		o.Change = func(ctx context.Context, action, resource string) error { return change(ctx, argv, action, resource) }
	}
	report, err := conform.Run(cmd.Context(), server, o)
	switch {
	case cmd.Context().Err() != nil:
		return nil, failed(errors.New("interrupted"))
	case errors.Is(err, pull.ErrSilent):
		return nil, failed(fmt.Errorf("%s did not answer: is the node %q configured there?", server, o.Node.GetId()))
	}
	return report, failed(err)
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
