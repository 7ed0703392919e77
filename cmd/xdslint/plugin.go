package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/nearest"
)

func newPlugin() *cobra.Command {
	cmd := &cobra.Command{
		Use: "plugin", Short: "Create or test a plugin: custom rules in a WebAssembly module", DisableFlagsInUseLine: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("plugin has no command %q%s: new, test", args[0], nearest.DidYouMean(args[0], []string{"new", "test"}))
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return errors.New("plugin needs a command: new or test") },
	}
	cmd.AddCommand(newPluginNew(), newPluginTest())
	return cmd
}
