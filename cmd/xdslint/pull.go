package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/pull"
)

type pullFlags struct {
	lintFlags
	clientFlags
	rest, admin    string
	transport      string
	wait, timeout  time.Duration
	out            string
	force, lintNow bool
}

var pullTransports = []string{"sotw", "delta"}

func newPull() *cobra.Command {
	f := &pullFlags{}
	cmd := &cobra.Command{
		Use: "pull", Short: "Fetch resources from a management server or a running Envoy",
		Long: `pull requests all resources that an Envoy with this node would get from a management server, or those that a running
Envoy has. It writes files that lint and plan read (--out), lints the resources at once (--lint), or does both. Secrets
are redacted in files and output.

Exit status: 0 fetched, and with --lint no findings at or above --fail-on, 1 findings, 2 the command line or the
configuration is wrong, 3 nothing could be fetched.`,
		Example: `  xdslint pull --ads xds.example.com:18000 --node edge-1 --lint
  xdslint pull --ads localhost:18000 --plaintext --transport delta --node @node.yaml --out served/
  xdslint pull --admin http://localhost:9901 --out running/ && xdslint plan running/ served/`,
		Args: noArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd) },
	}
	f.add(cmd)
	return cmd
}

func (f *pullFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.SortFlags = false
	grouped(flags, serverGroup, func() { f.addServer(flags) })
	grouped(flags, outputGroup, func() {
		flags.StringVar(&f.out, "out", "", "write files to this `DIR`")
		flags.BoolVar(&f.force, "force", false, "replace the files of an earlier pull in DIR")
		flags.BoolVar(&f.lintNow, "lint", false, "lint the resources; the flags below are those of lint")
	})
	f.checkFlags.add(cmd)
	f.addOutput(cmd)
	for _, ofFiles := range []string{"root", "config-yaml", "stdin-filename", "show-files"} {
		_ = flags.MarkHidden(ofFiles) // the flag exists
	}
	complete(cmd, "transport", pullTransports)
}

// addServer adds the flags about the server and the connection to it.
func (f *pullFlags) addServer(flags *pflag.FlagSet) {
	flags.StringVar(&f.ads, "ads", "", "management server, as `HOST:PORT`, queried over its aggregated stream")
	flags.StringVar(&f.rest, "rest", "", "management server, as `URL`, queried by polling (REST-JSON)")
	flags.StringVar(&f.admin, "admin", "", "admin interface of a running Envoy, as `URL`: http://127.0.0.1:9901 or unix:///PATH")
	flags.StringVar(&f.transport, "transport", pullTransports[0], "`TRANSPORT` of --ads: "+strings.Join(pullTransports, ", "))
	f.addClient(flags)
	flags.DurationVar(&f.wait, "wait", pull.DefaultWait, "longest `DURATION` without an answer while resources are missing")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "longest `DURATION` of the whole pull")
}

// check finds mistakes in the command line before any request is sent.
func (f *pullFlags) check() error {
	given := 0
	for _, from := range []string{f.ads, f.rest, f.admin} {
		if from != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("pull needs one of --ads HOST:PORT, --rest URL and --admin URL")
	case f.out == "" && !f.lintNow:
		return errors.New("pull needs --out DIR, which writes the resources, or --lint, which lints them")
	case f.admin == "" && f.node == "":
		return errors.New("--ads and --rest need --node ID: the resources depend on the node")
	case f.admin != "" && f.node != "":
		return errors.New("--node and --admin cannot be used together: a running Envoy has its node")
	case !slices.Contains(pullTransports, f.transport):
		return fmt.Errorf("--transport %s: write %s", f.transport, strings.Join(pullTransports, " or "))
	case f.ads == "" && f.transport != pullTransports[0]:
		return errors.New("--transport needs --ads")
	case f.ads == "" && f.tls.plaintext:
		return errors.New("--plaintext needs --ads; for --rest and --admin write a URL with http:// or https://")
	case f.wait <= 0 || f.timeout <= 0:
		return errors.New("--wait and --timeout must be more than 0")
	}
	return errors.Join(f.checkADS(), f.checkOut())
}

func (f *pullFlags) run(cmd *cobra.Command) error {
	if err := f.check(); err != nil {
		return err
	}
	ctx := cmd.Context()
	o, err := settings(ctx, f)
	if err != nil {
		return err
	}
	if _, err := xdslint.New(o); err != nil {
		return err
	}
	if _, _, err := f.parseOutputs(); err != nil {
		return err
	}
	got, err := f.fetch(ctx, o.Load.Types)
	if err != nil {
		return err
	}
	for _, note := range got.notes {
		fmt.Fprintln(cmd.ErrOrStderr(), "xdslint:", words.Printable(note))
	}
	if f.out != "" {
		if err := f.write(got.files); err != nil {
			return failed(err)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "xdslint: wrote %s\n", strings.Join(slices.Sorted(maps.Keys(got.files)), ", "))
	}
	if !f.lintNow {
		return nil
	}
	if len(o.Targets) == 0 && len(o.Config.Targets) == 0 && got.target != "" {
		o.Targets = []string{got.target}
	}
	in, err := got.input(ctx, o)
	if err != nil {
		return err
	}
	return f.judge(cmd, o, in)
}

// fetched are the resources of a server.
type fetched struct {
	files   map[string][]byte     // which need not be on disk
	declare func(*graph.Snapshot) // states what exists besides them; nil: nothing is known
	target  string                // of the Envoy; empty: not known
	notes   []string
}

// input reads the files.
func (g *fetched) input(ctx context.Context, o xdslint.Options) (in xdslint.Input, err error) {
	l, err := xdslint.New(o)
	if err != nil {
		return in, err
	}
	input, err := l.Load(ctx, xdslint.Texts(g.files))
	switch {
	case err != nil && ctx.Err() != nil:
		return in, failed(errors.New("interrupted"))
	case err != nil:
		return in, err
	}
	for _, s := range input.Snapshots {
		if g.declare != nil {
			g.declare(s)
		}
	}
	return xdslint.Loaded(input), nil
}

// fetch requests the resources.
func (f *pullFlags) fetch(ctx context.Context, known graph.Types) (got *fetched, err error) {
	server, err := f.connection(f.ads + f.rest + f.admin) // check ensures that there is exactly one
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	if f.admin != "" {
		dump, err := pull.Admin(within, server, known)
		if err != nil {
			return nil, f.failed(ctx, server, err)
		}
		got := &fetched{files: f.named(map[string][]byte{"config_dump.json": dump.Config})}
		if t, err := dataplane.Parse("envoy:" + minor(dump.Version)); err == nil {
			got.target = t.String()
		}
		return got, nil
	}
	request := pull.Request{Wait: f.wait, Types: known}
	if request.Node, err = f.identity(); err != nil {
		return nil, err
	}
	ask := map[string]func(context.Context, pull.Server, pull.Request) (*pull.Result, error){"sotw": pull.SotW, "delta": pull.Delta}[f.transport]
	if f.rest != "" {
		ask = pull.REST
	}
	result, err := ask(within, server, request)
	if errors.Is(err, pull.ErrSilent) {
		return nil, failed(fmt.Errorf("%s did not answer: is the node %q configured there?", server, request.Node.GetId()))
	}
	if err != nil {
		return nil, f.failed(ctx, server, err)
	}
	files, err := result.Files()
	if err != nil {
		return nil, failed(err)
	}
	return &fetched{files: f.named(files), declare: result.Declare, notes: result.Notes()}, nil
}

// failed explains why nothing was received.
func (f *pullFlags) failed(ctx context.Context, server pull.Server, err error) error {
	switch {
	case ctx.Err() != nil:
		return failed(errors.New("interrupted"))
	case errors.Is(err, pull.ErrAddress):
		return err
	case errors.Is(err, context.DeadlineExceeded):
		return failed(fmt.Errorf("%s did not answer within %s (--timeout)", server, f.timeout))
	}
	return failed(err)
}

// minor returns the minor version: 1.38 for 1.38.2.
func minor(version string) string {
	if i := strings.LastIndexByte(version, '.'); strings.Count(version, ".") == 2 {
		return version[:i]
	}
	return version
}

// named returns the files under the paths that they have, or would have, on disk.
func (f *pullFlags) named(files map[string][]byte) map[string][]byte {
	named := map[string][]byte{}
	for name, text := range files {
		named[filepath.Join(f.out, name)] = text
	}
	return named
}
