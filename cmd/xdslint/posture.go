package main

import (
	"bufio"
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/posture"
)

type postureFlags struct {
	inputFlags
	format string
}

// postureFormats are the formats of the command.
var postureFormats = []string{"text", "json"}

func newPosture() *cobra.Command {
	f := &postureFlags{}
	cmd := &cobra.Command{
		Use: "posture PATH…", Short: "Show which guards run for which requests", DisableFlagsInUseLine: true, Args: cobra.ArbitraryArgs,
		Long: `List which guards run for the requests to each host and route: client certificates, and the HTTP filters jwt_authn,
ext_authz, rbac, oauth2, basic_auth, api_key_auth, local_ratelimit and ratelimit. If one does not run, the place that
says so is shown. No Envoy runs.

A hole is a request that gets to a guarded resource without the guard, because its path, its host, a header or an
upgrade is another one. Each comes with a curl command that sends it.

Policies under "require" in ` + "`.xdslint.yaml`" + ` say which guard has to run where. See docs/posture.md.

Exit status: 0 all policies hold, 1 a policy is broken or a file could not be read, 2 the command line or the
configuration is wrong, 3 xdslint failed.`,
		Example: `  xdslint posture envoy.yaml
  xdslint posture config_dump.json --format json`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	f.inputFlags.add(cmd)
	flags := cmd.Flags()
	grouped(flags, outputGroup, func() {
		flags.StringVar(&f.format, "format", "text", "`FORMAT` of the report: text, json")
	})
	complete(cmd, "format", postureFormats)
	return cmd
}

func (f *postureFlags) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains(postureFormats, f.format) {
		return unknownFormat(f.format, postureFormats)
	}
	s, err := f.configuration(cmd.Context())
	if err != nil {
		return err
	}
	policies, err := posture.ReadPolicies(s.File, s.Policies())
	if err != nil {
		return err
	}
	read, err := f.given(cmd, args)
	if err != nil {
		return err
	}
	snapshot, err := only(cmd, args, read)
	if err != nil {
		return err
	}
	report, err := posture.Make(snapshot, policies)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	write := map[string]func(io.Writer) error{"text": report.Text, "json": report.JSON}[f.format]
	if err := errors.Join(write(out), out.Flush()); err != nil {
		return failed(err)
	}
	return f.ended(report.Broken() > 0 || len(unread(read)) > 0)
}
