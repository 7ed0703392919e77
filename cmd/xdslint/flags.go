package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/lint"
)

// inputFlags say what is read, and what is known about the world around it.
type inputFlags struct {
	assume, open, closed []string
	root, configYAML     string
	stdinName            string
	descriptors          []string
	showFiles            bool
	config               string
	noConfig             bool
	plugins              []string
}

func (f *inputFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	grouped(flags, inputGroup, func() {
		flags.StringVar(&f.root, "root", "", "`DIR` that stands for / in the paths that a bootstrap names")
		flags.StringVar(&f.configYAML, "config-yaml", "", "`YAML` merged over each bootstrap, as Envoy's flag of this name")
		flags.StringVar(&f.stdinName, "stdin-filename", "", "`NAME` of standard input in findings; its extension tells the encoding")
		f.addDescriptors(flags)
		flags.BoolVar(&f.showFiles, "show-files", false, "list what each file was read as, and which were skipped")
	})
	f.addWorld(cmd)
	f.addConfig(flags)
}

// addWorld adds the flags about what there is beside the input.
func (f *inputFlags) addWorld(cmd *cobra.Command) {
	flags := cmd.Flags()
	grouped(flags, worldGroup, func() {
		flags.StringArrayVar(&f.assume, "assume", nil, "names that exist elsewhere, as `KIND:GLOB`: cluster:backend-*")
		flags.StringSliceVar(&f.open, "open", nil, "`KIND`s of which more exist than is given: a missing name is no mistake")
		flags.StringSliceVar(&f.closed, "closed", nil, "`KIND`s of which all are given: a missing name is an error")
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

// completeWith lets a shell offer values that are worked out only then.
func completeWith(cmd *cobra.Command, flag string, values func() []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) { // the flag exists
		return values(), cobra.ShellCompDirectiveNoFileComp
	})
}

func (f *inputFlags) addDescriptors(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.descriptors, "proto-descriptors", nil, "FileDescriptorSet with the types of your own extensions, as `FILE`")
}

func (f *inputFlags) addConfig(flags *pflag.FlagSet) {
	grouped(flags, rulesGroup, func() {
		flags.StringVar(&f.config, "config", "", "configuration `FILE` (default: "+config.FileName+" in this folder or above)")
		flags.BoolVar(&f.noConfig, "no-config", false, "read no configuration and no baseline")
	})
}

// configuration reads the configuration that applies; without one all is empty.
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

// read reads a configuration; without a path, all is empty but for what the flags say.
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

// findUp looks for a file from the working directory upwards; the path is relative, as people write it.
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

// input is what the command line names, else what the configuration does.
func input(cmd *cobra.Command, args []string, s *xdslint.Config) (xdslint.Input, error) {
	paths := args
	if len(paths) == 0 {
		paths = s.InputPaths()
	}
	if len(paths) == 0 {
		return xdslint.Input{}, fmt.Errorf("%w (xdslint --help)", xdslint.ErrNoPaths)
	}
	return xdslint.Paths(args...), checkPaths(cmd, paths)
}

// options are what the flags say of a linter.
func (f *inputFlags) options(s *xdslint.Config) (xdslint.Options, error) {
	o := xdslint.Options{BuiltIn: builtIn(), Config: s, Load: load.Options{Root: f.root, ConfigYAML: f.configYAML, Stdin: os.Stdin, StdinName: f.stdinName}}
	var err error
	if o.Load.Assumptions, err = config.ParseAssumptions(f.assume, f.open, f.closed); err != nil {
		return o, fmt.Errorf("--%w", err)
	}
	o.Load.Types, err = types(f.descriptors)
	return o, err
}

// ruleFlags say which rules run, and for whom.
type ruleFlags struct {
	selects, ignores []string
	targets          []string
}

func (f *ruleFlags) add(cmd *cobra.Command, ids func() []string) {
	flags := cmd.Flags()
	grouped(flags, rulesGroup, func() {
		flags.StringSliceVar(&f.selects, "select", nil, "run only these `RULE`s: ids, groups, globs over ids")
		flags.StringSliceVar(&f.ignores, "ignore", nil, "do not run these `RULE`s")
	})
	completeWith(cmd, "select", ids)
	completeWith(cmd, "ignore", ids)
	addTarget(cmd, &f.targets)
}

func addTarget(cmd *cobra.Command, targets *[]string) {
	grouped(cmd.Flags(), rulesGroup, func() {
		cmd.Flags().StringSliceVar(targets, "target", nil, "data plane to judge for, as `PLANE:VERSION` (default "+dataplane.Default().String()+")")
	})
	completeWith(cmd, "target", func() (names []string) {
		for _, t := range dataplane.All() {
			names = append(names, t.String())
		}
		return names
	})
}

// checkFlags are those of all commands that run the rules.
type checkFlags struct {
	inputFlags
	ruleFlags
}

func (f *checkFlags) add(cmd *cobra.Command) {
	f.inputFlags.add(cmd)
	f.addRules(cmd)
}

// addRules adds the flags about rules: those that run, and those that are not built in.
func (f *checkFlags) addRules(cmd *cobra.Command) {
	grouped(cmd.Flags(), rulesGroup, func() { f.addPlugins(cmd.Flags()) })
	f.ruleFlags.add(cmd, func() []string { return f.ruleIDs(cmd) })
}

// options are what the flags say of a linter.
func (f *checkFlags) options(s *xdslint.Config) (xdslint.Options, error) {
	o, err := f.inputFlags.options(s)
	o.Select, o.Ignore, o.Targets = f.selects, f.ignores, f.targets
	return o, err
}

// checkPaths names the command that a path which does not exist may have been meant as.
func checkPaths(cmd *cobra.Command, paths []string) error {
	for _, p := range paths {
		if _, err := os.Stat(p); err == nil || p == "-" || strings.ContainsAny(p, "*?[/.") {
			continue
		}
		var names []string
		for _, c := range cmd.Root().Commands() {
			names = append(names, c.Name())
		}
		if near := lint.Nearest(p, names); near != "" {
			return fmt.Errorf("no such file: %s (did you mean the command %q?)", p, near)
		}
	}
	return nil
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}
