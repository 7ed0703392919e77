package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
)

func newPluginTest() *cobra.Command {
	t := &archiveTest{}
	cmd := &cobra.Command{
		Use: "test DIR|FILE.wasm", Short: "Run the examples of a plugin's rules", DisableFlagsInUseLine: true,
		Long: `Run the rules of a plugin, the only .wasm file in DIR, over the examples in testdata/GROUP/RULE.txtar next to it.
Each bad* example must have the findings under want, each good* example none.

Exit status: 0 all examples are as expected, 1 something differs or a rule has no archive, 2 the command line is wrong,
3 xdslint failed.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("plugin test needs the folder of a plugin, or its .wasm file")
			}
			module, err := moduleAt(args[0])
			if err != nil {
				return err
			}
			rules, err := opener{ctx: cmd.Context()}.open(module, "")
			if err != nil {
				return err
			}
			return t.run(cmd, rules)
		},
	}
	t.add(cmd.Flags())
	return cmd
}

// moduleAt returns the path itself, or that of the only module in a folder.
func moduleAt(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, err
	}
	entries, err := os.ReadDir(path)
	modules := slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) != ".wasm" })
	switch {
	case err != nil:
		return "", err
	case len(modules) == 0:
		return "", fmt.Errorf("there is no .wasm file in %s: build the plugin first", path)
	case len(modules) > 1:
		return "", fmt.Errorf("there are several .wasm files in %s: name one of them", path)
	}
	return filepath.Join(path, modules[0].Name()), nil
}
