package main

import (
	_ "embed"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/config"
)

//go:embed init.yaml
var initText string

func newInit() *cobra.Command {
	return &cobra.Command{
		Use: "init", Short: "Write a commented " + config.FileName, Args: noArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := writeNew(config.FileName, []byte(initText), 0o644)
			if os.IsExist(err) {
				return fmt.Errorf("%s already exists", config.FileName)
			}
			if err != nil {
				return failed(err)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: every setting is commented out; uncomment what you need\n", config.FileName)
			return failed(err)
		},
	}
}
