// Command xdslint checks Envoy's xDS configuration before a data plane does.
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	_ "github.com/xdslint/xdslint/cmd/xdslint/internal/start"
	"github.com/xdslint/xdslint/lint"
)

// The exit statuses. They are stable.
const (
	statusOK       = 0
	statusFindings = 1 // there are findings, or a rejected file
	statusUsage    = 2 // the command line or the configuration is wrong
	statusFailed   = 3 // xdslint itself failed
)

// status is an error that says how the process ends; one without an error inside has nothing more to say.
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

// failed marks an error as xdslint's own, not the user's.
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
	// The first Ctrl-C stops in order, the second one at once.
	context.AfterFunc(ctx, stop)
	return execute(ctx, os.Args[1:])
}

func execute(ctx context.Context, args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return statusOK
	}
	if text := plain(err); text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintln(os.Stderr, "xdslint:", line)
		}
	}
	var s *status
	if errors.As(err, &s) {
		return s.code
	}
	return statusUsage
}

// plain takes the names of system calls out of an error's text.
func plain(err error) string {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		reason := path.Err.Error()
		if errors.Is(err, fs.ErrNotExist) {
			return "no such file: " + path.Path
		}
		return path.Path + ": " + reason
	}
	return err.Error()
}

func newRoot() *cobra.Command {
	root := newLint("xdslint [lint] PATH…")
	root.Short = "Validate and lint Envoy's xDS configuration"
	root.Long = `xdslint tells what a data plane will do with its configuration: what it refuses, what it drops in silence,
which names lead nowhere.

PATH is a file, a folder, a glob or - for standard input: bootstraps, discovery responses, single resources and
config_dumps, in YAML, JSON, proto text or binary. What a file is, its content tells.

Exit status: 0 nothing at or above --fail-on, 1 findings, 2 the command line is wrong, 3 xdslint failed.`
	root.Example = `  xdslint envoy.yaml
  xdslint --format sarif --assume cluster:backend-* configs/
  curl -s localhost:9901/config_dump?include_eds | xdslint -`
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = false
	root.SetFlagErrorFunc(flagError)
	root.SetUsageFunc(usage)
	lintCmd := newLint("lint PATH…")
	lintCmd.Short = "Lint files (what xdslint does without a command)"
	root.AddCommand(lintCmd, newGraph(), newRules(), newExplain(), newVerdict(), newPlan(), newTrafficDiff(), newServe(), newBaseline(), newPull(), newInit(), newConfig(), newPlugin(), newCertificate(), newVersion())
	return root
}

// flagError adds the nearest flag to an error about one that does not exist.
func flagError(cmd *cobra.Command, err error) error {
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	if near := lint.Nearest(name, flagNames(cmd)); near != "" {
		return fmt.Errorf("unknown flag --%s (did you mean --%s?)", name, near)
	}
	return fmt.Errorf("unknown flag --%s (%s --help lists them)", name, cmd.CommandPath())
}
