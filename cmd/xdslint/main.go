// Command xdslint validates and lints xDS configuration for Envoy and gRPC.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	_ "github.com/xdslint/xdslint/cmd/xdslint/internal/start"
	"github.com/xdslint/xdslint/internal/words"
)

// The exit statuses. They are stable.
const (
	statusOK       = 0
	statusFindings = 1 // there are findings, or a rejected file
	statusUsage    = 2 // the command line or the configuration is wrong
	statusFailed   = 3 // xdslint itself failed
)

// status is an error with an exit status. Nothing is printed if err is nil.
type status struct {
	code int
	err  error
}

func (s *status) Error() string {
	if s.err == nil {
		return ""
	}
	return s.err.Error()
}

func (s *status) Unwrap() error { return s.err }

// failed marks an error as a failure of xdslint, not a mistake of the user.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &status{statusFailed, err}
}

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	// The first Ctrl-C stops gracefully, the second one at once.
	context.AfterFunc(ctx, stop)
	return execute(ctx, os.Args[1:])
}

func execute(ctx context.Context, args []string) int {
	root := newRoot(args...)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return statusOK
	}
	printError(err)
	var s *status
	if errors.As(err, &s) {
		return s.code
	}
	return statusUsage
}

func printError(err error) {
	if err == nil || plain(err) == "" {
		return
	}
	for line := range strings.SplitSeq(words.Printable(plain(err)), "\n") {
		fmt.Fprintln(os.Stderr, "xdslint:", line)
	}
}

// commands returns what makes the commands, by their names.
func commands() map[string]func() *cobra.Command {
	return map[string]func() *cobra.Command{
		"baseline": newBaseline, "certificate": newCertificate, "config": newConfig, "conform": newConform, "diff": newTrafficDiff, "explain": newExplain,
		"graph": newGraph, "init": newInit, "lint": newLintCommand, "plan": newPlan, "plugin": newPlugin, "posture": newPosture, "pull": newPull,
		"record": newRecord, "route": newRoute, "rules": newRules, "serve": newServe, "test": newTest, "trace": newTrace, "verdict": newVerdict,
		"version": newVersion,
	}
}

// newRoot makes the command for a command line. If it begins with the name of a command, there is only that one: to make all of them takes a
// thirtieth of the time of a small file.
func newRoot(args ...string) *cobra.Command {
	root := newLint("xdslint [lint] PATH…")
	root.Short = "Validate and lint xDS configuration"
	root.Long = `xdslint finds configuration that the data plane would reject, silently ignore, or fail to resolve.

` + pathsAndStatus + `

The other commands use 2 and 3 in the same way. Their help says what 1 means.`
	root.Example = `  xdslint envoy.yaml
  xdslint --format sarif --assume cluster:backend-* configs/
  curl -s localhost:9901/config_dump?include_eds | xdslint -`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	all := commands()
	if len(args) > 0 && all[args[0]] != nil {
		root.AddCommand(all[args[0]]())
		return root
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		root.AddCommand(all[name]())
	}
	root.InitDefaultHelpCmd()
	if help, _, err := root.Find([]string{"help"}); err == nil {
		help.Short, help.Long = "Show the help of a command", ""
	}
	return root
}

// pathsAndStatus is in the help of lint, with and without its name.
const pathsAndStatus = `PATH is a file, a folder, a glob or - for standard input: bootstraps, discovery responses, single resources and
config_dumps, in YAML, JSON, proto text or binary; Kubernetes objects that hold any of these; and recordings of
xdslint record. The file type is detected from the content.

Exit status: 0 no findings at or above --fail-on, 1 findings, 2 the command line or the configuration is wrong,
3 xdslint failed.`

func newLintCommand() *cobra.Command {
	cmd := newLint("lint PATH…")
	cmd.Short = "Lint files (the default command)"
	cmd.Long = "Lint files. This is the default command: the name lint can be left out.\n\n" + pathsAndStatus
	return cmd
}
