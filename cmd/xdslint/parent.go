package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/nearest"
)

// parent makes a command that does nothing but hold others. By itself, it is a mistake.
func parent(cmd *cobra.Command, below ...*cobra.Command) *cobra.Command {
	names := make([]string, len(below))
	for i, b := range below {
		names[i] = b.Name()
	}
	cmd.DisableFlagsInUseLine = true
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return fmt.Errorf("%s has no command %q%s: %s", cmd.Name(), args[0], nearest.DidYouMean(args[0], names), strings.Join(names, ", "))
		}
		return nil
	}
	cmd.RunE = func(*cobra.Command, []string) error {
		return fmt.Errorf("%s needs a command: %s", cmd.Name(), strings.Join(names, ", "))
	}
	cmd.AddCommand(below...)
	return cmd
}
