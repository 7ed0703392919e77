package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/dataplane"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version and the known targets", Args: noArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "xdslint %s (%s, %s/%s)\ntargets: %s\n",
				xdslint.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH, dataplane.Join(dataplane.All()))
			return err
		},
	}
}
