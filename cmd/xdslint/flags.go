package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/cmd/xdslint/internal/start"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/lint"
)

// inputFlags select the input, and state what exists besides it.
type inputFlags struct {
	assume, open, closed []string
	root, configYAML     string
	at                   []string
	node                 string
	comparing            bool // the input has two sides
	stdinName            string
	descriptors          []string
	showFiles            bool
	config               string
	noConfig             bool
	plugins              []string
	noPlugins            bool
	unavailable          []string              // rules of plugins that do not run
	untyped              protoreflect.FullName // what an input without a type is
	incomplete           bool                  // a file that was given could not be read
}

func (f *inputFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	grouped(flags, inputGroup, func() {
		flags.StringVar(&f.root, "root", "", "`DIR` that stands for / in the paths that a bootstrap names")
		flags.StringVar(&f.configYAML, "config-yaml", "", "`YAML` merged over each bootstrap, like Envoy's --config-yaml")
		flags.StringVar(&f.stdinName, "stdin-filename", "", "`NAME` of standard input in findings; its extension selects the encoding")
		addDescriptors(flags, &f.descriptors)
		flags.BoolVar(&f.showFiles, "show-files", false, "list how each file was read, and which files were skipped")
	})
	f.addWorld(cmd)
	f.addConfig(flags)
}

// addWorld adds the flags about what exists besides the input.
func (f *inputFlags) addWorld(cmd *cobra.Command) {
	flags := cmd.Flags()
	grouped(flags, worldGroup, func() {
		flags.StringArrayVar(&f.assume, "assume", nil, "names that exist elsewhere, as `KIND:GLOB`: cluster:backend-*; can be repeated")
		flags.StringSliceVar(&f.open, "open", nil, "`KIND`s that may exist outside the input; do not report missing names; can be repeated")
		flags.StringSliceVar(&f.closed, "closed", nil, "`KIND`s that are complete in the input; report missing names as errors; can be repeated")
	})
	for _, name := range []string{"open", "closed"} {
		completeWith(cmd, name, func() (names []string) {
			for _, k := range graph.Kinds() {
				names = append(names, string(k))
			}
			return names
		})
	}
}

// completeWith lets a shell offer values that are computed on completion.
func completeWith(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // the flag exists
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

func addDescriptors(flags *pflag.FlagSet, files *[]string) {
	flags.StringArrayVar(files, "proto-descriptors", nil, "FileDescriptorSet with the types of custom extensions, as `FILE`; can be repeated")
}

func (f *inputFlags) addConfig(flags *pflag.FlagSet) {
	grouped(flags, rulesGroup, func() {
		flags.StringVar(&f.config, "config", "", "configuration `FILE` (default: "+config.FileName+" in this folder or above)")
		flags.BoolVar(&f.noConfig, "no-config", false, "read no configuration and no baseline")
	})
}

// configuration reads the configuration that applies. It is empty if there is none.
func (f *inputFlags) configuration(ctx context.Context) (*xdslint.Config, error) {
	path := f.config
	switch {
	case f.noConfig && path != "":
		return nil, fmt.Errorf("--config and --no-config cannot be used together")
	case !f.noConfig && path == "":
		path = findUp(config.FileName)
	}
	return f.read(ctx, path)
}

// configured are the flags of a command that reads a configuration.
type configured interface {
	configuration(ctx context.Context) (*xdslint.Config, error)
	options(s *xdslint.Config) (xdslint.Options, error)
}

// settings returns the options that the configuration and the flags of a command give.
func settings(ctx context.Context, f configured) (xdslint.Options, error) {
	s, err := f.configuration(ctx)
	if err != nil {
		return xdslint.Options{}, err
	}
	return f.options(s)
}

// read reads a configuration and adds the flags to it. An empty path means that there is no file.
func (f *inputFlags) read(ctx context.Context, path string) (*xdslint.Config, error) {
	custom, err := f.customRules(ctx)
	if err != nil {
		return nil, err
	}
	s, err := xdslint.ReadConfig(path, custom)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, failed(errors.New("interrupted"))
	case err != nil:
		return nil, err
	}
	withExamples(s)
	return s, nil
}

// findUp looks for a file in the working directory and above. The returned path is relative.
func findUp(name string) string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	path := config.Find(dir, name)
	if path == "" {
		return ""
	}
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}

// input returns the paths of the command line, or those of the configuration if there are none.
func input(cmd *cobra.Command, args []string, s *xdslint.Config) (xdslint.Input, error) {
	paths := args
	if len(paths) == 0 {
		paths = s.InputPaths()
	}
	if len(paths) == 0 {
		return xdslint.Input{}, fmt.Errorf("%w (xdslint --help)", xdslint.ErrNoPaths)
	}
	start.Expect(sizeOf(paths))
	return xdslint.Paths(args...), checkPaths(paths)
}

// sizeOf returns the size of the files that paths name, and of those that are read in folders that they name.
func sizeOf(paths []string) (bytes uint64) {
	for _, path := range paths {
		info, err := os.Stat(path)
		switch {
		case err != nil: // is reported later
		case info.IsDir():
			inside, _ := os.ReadDir(path)
			for _, entry := range inside {
				if info, err := entry.Info(); err == nil && info.Mode().IsRegular() && load.Known(entry.Name()) {
					bytes += uint64(info.Size())
				}
			}
		default:
			bytes += uint64(info.Size())
		}
	}
	return bytes
}

// options translates the flags into options of a linter.
func (f *inputFlags) options(s *xdslint.Config) (xdslint.Options, error) {
	o := xdslint.Options{BuiltIn: builtIn(), Config: s, Load: load.Options{Root: f.root, ConfigYAML: f.configYAML, Stdin: os.Stdin, StdinName: f.stdinName, Untyped: f.untyped}}
	if info, err := os.Stat(f.root); f.root != "" && (err != nil || !info.IsDir()) {
		return o, fmt.Errorf("--root: no such folder: %s", f.root)
	}
	times, err := f.times()
	if err != nil {
		return o, err
	}
	o.Load.At, o.Load.Node = times[0], f.node
	if o.Load.Assumptions, err = config.ParseAssumptions(f.assume, f.open, f.closed); err != nil {
		return o, fmt.Errorf("--%w", err)
	}
	o.Load.Types, err = types(f.descriptors)
	return o, err
}

// addRecording adds the flags about recordings of xDS streams as an input.
func (f *inputFlags) addRecording(flags *pflag.FlagSet) {
	usage := "of a recording, what a client had at this `TIME`, such as 2027-01-31T12:03:07Z (default: the end)"
	if f.comparing {
		usage += "; two, with a comma between them, are for OLD and NEW"
	}
	grouped(flags, inputGroup, func() {
		flags.StringSliceVar(&f.at, "at", nil, usage)
		flags.StringVar(&f.node, "node", "", "of a recording, only the client with this node `ID`")
	})
}

// checkRecording returns an error if flags are about a recording, and none was read.
func (f *inputFlags) checkRecording(files []load.FileReport) error {
	recording := func(r load.FileReport) bool { return r.As == load.Recording }
	if f.node == "" && len(f.at) == 0 || slices.ContainsFunc(files, recording) {
		return nil
	}
	return errors.New("--node and --at are about recordings of xDS streams (xdslint record), but none was read: name the file of one")
}

// times returns the time in recordings for each side of the input; zero: the end.
func (f *inputFlags) times() (times [2]time.Time, err error) {
	if len(f.at) > 2 || len(f.at) > 1 && !f.comparing {
		return times, fmt.Errorf("--at %s: give one time", strings.Join(f.at, ","))
	}
	for i, text := range f.at {
		if times[i], err = time.Parse(time.RFC3339, text); err != nil {
			return times, fmt.Errorf("--at %s: write a date and a time, such as 2027-01-31T12:03:07Z", text)
		}
	}
	if len(f.at) == 1 {
		times[1] = times[0]
	}
	return times, nil
}

// ruleFlags select the rules that run, and the targets.
type ruleFlags struct {
	selects, ignores []string
	targets          []string
	grpcEnv          []string
	profile          string
}

func (f *ruleFlags) add(cmd *cobra.Command, ids func() []string) {
	flags := cmd.Flags()
	grouped(flags, rulesGroup, func() {
		flags.StringSliceVar(&f.selects, "select", nil, "run only these `RULE`s: ids, groups, globs over ids; can be repeated")
		flags.StringSliceVar(&f.ignores, "ignore", nil, "do not run these `RULE`s; can be repeated")
		addGRPCEnv(flags, &f.grpcEnv)
		flags.StringVar(&f.profile, "profile", "", "where the data planes run, as `PROFILE`: edge, mesh or internal; adds rules, such as those of hardening")
	})
	completeWith(cmd, "select", ids)
	completeWith(cmd, "ignore", ids)
	completeWith(cmd, "profile", func() (names []string) {
		for _, p := range lint.Profiles {
			names = append(names, string(p))
		}
		return names
	})
	addTarget(cmd, &f.targets, "target to lint for")
}

func addGRPCEnv(flags *pflag.FlagSet, variables *[]string) {
	flags.StringSliceVar(variables, "grpc-env", nil, "environment variable of gRPC clients and servers, as `NAME=VALUE`; can be repeated")
}

func addTarget(cmd *cobra.Command, targets *[]string, what string) {
	grouped(cmd.Flags(), rulesGroup, func() {
		cmd.Flags().StringSliceVar(targets, "target", nil, what+", as `PLANE:VERSION` (default "+dataplane.Default().String()+"); can be repeated")
	})
	completeWith(cmd, "target", func() (names []string) {
		for _, t := range dataplane.All() {
			names = append(names, t.String())
		}
		return names
	})
}

// checkFlags are the flags of all commands that run rules.
type checkFlags struct {
	inputFlags
	ruleFlags
	now   string
	dated bool // without --now and a date of the configuration, certificates are judged for today
}

func (f *checkFlags) add(cmd *cobra.Command) {
	f.inputFlags.add(cmd)
	f.addRules(cmd)
	f.dated = true
	grouped(cmd.Flags(), rulesGroup, func() {
		cmd.Flags().StringVar(&f.now, "now", "", "judge certificates for this `DATE`, such as 2027-01-31, or today (default: today)")
	})
}

// addRules adds the flags that select rules and add custom ones.
func (f *checkFlags) addRules(cmd *cobra.Command) {
	grouped(cmd.Flags(), rulesGroup, func() { f.addPlugins(cmd.Flags()) })
	f.ruleFlags.add(cmd, func() []string { return f.ruleIDs(cmd, known) })
}

// options translates the flags into options of a linter.
func (f *checkFlags) options(s *xdslint.Config) (xdslint.Options, error) {
	o, err := f.inputFlags.options(s)
	o.Select, o.Ignore, o.Targets = f.selects, append(f.unavailable, f.ignores...), f.targets
	o.Profile, o.GRPCEnv = f.profile, f.grpcEnv
	if f.now == "today" || f.now == "" && f.dated && s.Now == "" {
		o.Now = time.Now().UTC().Truncate(24 * time.Hour)
		return o, err
	}
	date, dateErr := config.ParseDate(f.now)
	if dateErr != nil {
		return o, fmt.Errorf("--now: %w", dateErr)
	}
	o.Now = date
	return o, err
}

// checkPaths rejects a path that does not exist but is, or resembles, the name of a command.
func checkPaths(paths []string) error {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil || p == "-" || strings.ContainsAny(p, "*?[/.") {
			continue
		}
		if commands()[p] != nil {
			return fmt.Errorf("no such file: %[1]s (to run the command, write it first: xdslint %[1]s …)", p)
		}
		if near := lint.Nearest(p, slices.Sorted(maps.Keys(commands()))); near != "" {
			return fmt.Errorf("no such file: %s (did you mean the command %q?)", p, near)
		}
	}
	return nil
}

// noArgs is the check of a command that takes only flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes only flags, and got %q (%s --help)", cmd.Name(), args[0], cmd.CommandPath())
	}
	return nil
}

// atMostOne is the check of a command that takes one path or none.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) > 1 {
		return fmt.Errorf("%s takes at most one path, and got %d (%s --help)", cmd.Name(), len(args), cmd.CommandPath())
	}
	return nil
}

// checkListen finds a mistake in --listen.
func checkListen(address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("--listen %s: write HOST:PORT", address)
	}
	return nil
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
