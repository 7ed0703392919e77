package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/plan"
)

type planFlags struct {
	inputFlags
	targets             []string
	transport, versions string
	format, failOn      string
	drainTime           time.Duration
	repoint, force      bool
}

var planFormats = []string{"text", "json"}

func newPlan() *cobra.Command {
	f := &planFlags{inputFlags: inputFlags{comparing: true}}
	cmd := &cobra.Command{
		Use: "plan OLD NEW", Short: "Find requests that a push from OLD to NEW would fail, and an order that fails none",
		Long: `plan compares the configuration of a proxy with the one to push, and reports which requests fail if all of it is
pushed at once. Then it prints the phases of a push that fails none: what to send, and what to wait for.

OLD and NEW are any input of lint: a file, a folder, a config_dump.

Exit status: 0 no hazard at or above --fail-on, 1 such a hazard or a NEW that is itself broken, 2 the command line or
the configuration is wrong, 3 xdslint failed.`,
		Example: `  xdslint plan snapshots/today snapshots/tomorrow
  curl -s localhost:9901/config_dump?include_eds | xdslint plan --transport ads-delta - tomorrow.yaml`,
		Args: oldAndNew, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	grouped(flags, pushGroup, func() { f.addPush(flags) })
	f.add(cmd)
	f.addRecording(cmd.Flags())
	addTarget(cmd, &f.targets, "who gets the push")
	grouped(flags, outputGroup, func() {
		flags.StringVar(&f.format, "format", "text", "`FORMAT` of the plan: "+strings.Join(planFormats, ", "))
		flags.StringVar(&f.failOn, "fail-on", "warning", "exit with status 1 on hazards of at least this `SEVERITY`: error, warning, info, never")
	})
	complete(cmd, "transport", strings.Split(names(lint.Transports), ", "))
	complete(cmd, "versions", strings.Split(names(lint.VersionPolicies), ", "))
	complete(cmd, "format", planFormats)
	complete(cmd, "fail-on", []string{"error", "warning", "info", "never"})
	return cmd
}

// addPush adds the flags that describe a push.
func (f *planFlags) addPush(flags *pflag.FlagSet) {
	flags.StringVar(&f.transport, "transport", "",
		"how resources are sent, as `TRANSPORT`: "+names(lint.Transports)+" (default "+string(lint.Transports[0])+")")
	flags.StringVar(&f.versions, "versions", "",
		"`WHAT` gets a new version in a push: "+names(lint.VersionPolicies)+" (default "+string(lint.VersionPolicies[0])+")")
	flags.DurationVar(&f.drainTime, "drain-time", plan.DefaultDrainTime, "Envoy's --drain-time-s, as `DURATION`")
	flags.BoolVar(&f.repoint, "repoint", false, "route draining connections like new ones, instead of waiting for them to close")
	flags.BoolVar(&f.force, "force", false, "make a plan even if NEW is itself broken")
}

func names[T ~string](all []T) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return strings.Join(texts, ", ")
}

func (f *planFlags) run(cmd *cobra.Command, args []string) error {
	if !slices.Contains(planFormats, f.format) {
		return unknownFormat(f.format, planFormats)
	}
	push, err := lint.ParsePush(f.transport, f.versions)
	if err != nil {
		return err
	}
	lowest, err := config.ParseFailOn(f.failOn)
	if err != nil {
		return fmt.Errorf("--fail-on: %w", err)
	}
	if f.drainTime < time.Second {
		return fmt.Errorf("--drain-time: %s is less than 1s, the minimum of Envoy", f.drainTime)
	}
	ctx := cmd.Context()
	o, err := settings(ctx, f)
	if err != nil {
		return err
	}
	o.Targets = f.targets
	l, sides, err := f.sides(cmd, o, args)
	if err != nil {
		return err
	}
	old, err := l.Broken(ctx, sides[0])
	if err != nil {
		return compared(ctx, err)
	}
	options := plan.Options{Push: push, DrainTime: f.drainTime, Repoint: f.repoint}
	outcome, err := l.Plan(ctx, sides[0], sides[1], xdslint.PlanOptions{Options: options, Force: f.force})
	if err != nil {
		return compared(ctx, err)
	}
	stderr := cmd.ErrOrStderr()
	if ruleFailures(stderr, old) || ruleFailures(stderr, outcome.Broken) {
		return failed(errors.New(""))
	}
	for _, side := range []struct {
		name, then string
		result     *lint.Result
	}{
		{"OLD", "the plan begins there nevertheless", old},
		{"NEW", "no plan leads to it (--force makes one)", outcome.Broken},
	} {
		if err := sayBroken(stderr, side.name, side.then, side.result); err != nil {
			return failed(err)
		}
	}
	if err := f.write(cmd.OutOrStdout(), outcome); err != nil {
		return failed(err)
	}
	hazard := func(d lint.Diagnostic) bool { return lowest != 0 && d.Severity >= lowest }
	switch {
	case ruleFailures(stderr, outcome.Hazards), outcome.Remaining != nil && ruleFailures(stderr, outcome.Remaining):
		return failed(errors.New(""))
	case len(outcome.Broken.Diagnostics) > 0, slices.ContainsFunc(outcome.Hazards.Diagnostics, hazard):
		return &status{statusFindings, nil}
	}
	return nil
}

func (f *planFlags) write(w io.Writer, outcome *plan.Outcome) error {
	if f.format == "json" {
		return outcome.JSON(w)
	}
	return outcome.Text(w, !color.NoColor)
}

// sayBroken reports the errors of one side, if there are any.
func sayBroken(w io.Writer, name, then string, result *lint.Result) error {
	if len(result.Diagnostics) == 0 {
		return nil
	}
	fmt.Fprintf(w, "xdslint: %s is itself broken, and %s:\n\n", name, then)
	if err := report.Text(w, result, report.TextOptions{Color: !color.NoColor}); err != nil {
		return err
	}
	fmt.Fprintln(w)
	return nil
}
