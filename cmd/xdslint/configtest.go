package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/ruletest"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

func newConfigTest() *cobra.Command {
	f, t := &inputFlags{}, &archiveTest{}
	cmd := &cobra.Command{
		Use: "test [DIR|FILE]", Short: "Run the examples of the constraints and plugins in a configuration", Args: atMostOne,
		DisableFlagsInUseLine: true,
		Long: `Run the constraints and plugins of a configuration over the examples in testdata/GROUP/RULE.txtar, next to the
configuration or the plugin. Each bad* example must have the findings under want, each good* example none. DIR is a
folder with a ` + config.FileName + `.

Exit status: 0 all examples are as expected, 1 something differs or a constraint has no archive, 2 the command line or
the configuration is wrong, 3 xdslint failed.`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if f.config, err = configAt(args); err != nil {
				return err
			}
			if t.types, err = types(f.descriptors); err != nil {
				return err
			}
			s, err := f.configuration(cmd.Context())
			if err != nil {
				return err
			}
			if len(s.Custom) == 0 {
				return fmt.Errorf("%s has no constraints or plugins to test", f.config)
			}
			t.optional = func(r *lint.Rule) bool { return r.Origin.File.Name != s.File.Name } // plugins are tested where they are developed
			return t.run(cmd, s.Custom)
		},
	}
	t.add(cmd.Flags())
	addDescriptors(cmd.Flags(), &f.descriptors)
	return cmd
}

// configAt returns the path of the configuration that an argument names, which can be its folder. Without an argument it is the configuration that applies
// here.
func configAt(args []string) (string, error) {
	if len(args) == 0 {
		path := findUp(config.FileName)
		if path == "" {
			return "", fmt.Errorf("there is no %s in this folder or above; xdslint init writes one", config.FileName)
		}
		return path, nil
	}
	if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
		return filepath.Join(args[0], config.FileName), nil
	}
	return args[0], nil
}

// archiveTest runs custom rules over their archives.
type archiveTest struct {
	update   bool
	types    decode.Types          // nil: those of Envoy's API
	optional func(*lint.Rule) bool // which rules need no archive; nil: all need one
}

func (t *archiveTest) add(flags *pflag.FlagSet) {
	flags.BoolVar(&t.update, "update", false, "write the current findings into the archives")
}

func (t *archiveTest) run(cmd *cobra.Command, rules []*lint.Rule) error {
	result, err := ruletest.Run(cmd.Context(), rules, ruletest.Options{Update: t.update, Types: t.types})
	if err != nil {
		return failed(err)
	}
	result.Untested = slices.DeleteFunc(result.Untested, func(r *lint.Rule) bool { return t.optional != nil && t.optional(r) })
	if err := failed(writeTested(cmd.OutOrStdout(), result)); err != nil {
		return err
	}
	if len(result.Faults)+len(result.Untested) > 0 {
		return &status{code: statusFindings}
	}
	return nil
}

func writeTested(w io.Writer, r *ruletest.Result) error {
	out := bufio.NewWriter(w)
	for _, fault := range r.Faults {
		if fault.Diff == "" {
			fmt.Fprintf(out, "%s: %s\n\n", fault.Path, fault.Message)
		} else {
			fmt.Fprintf(out, "%s: %s (--update writes it)\n%s\n", fault.Path, fault.Message, fault.Diff)
		}
	}
	for _, rule := range r.Untested {
		fmt.Fprintf(out, "%s has no archive\n", rule.ID())
	}
	for _, path := range r.Updated {
		fmt.Fprintf(out, "%s: written\n", path)
	}
	if len(r.Faults)+len(r.Untested) == 0 {
		fmt.Fprintf(out, "%s, %s: ok\n", words.Count(r.Archives, "archive"), words.Count(r.Examples, "example"))
	}
	return out.Flush()
}
