package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/config"
)

// oldAndNew are the arguments of commands that compare.
func oldAndNew(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s takes two paths, OLD and NEW, and got %d", cmd.CommandPath(), len(args))
	}
	if args[0] == "-" && args[1] == "-" {
		return fmt.Errorf("only one of OLD and NEW can be standard input")
	}
	return checkPaths(cmd, args)
}

// loadSide reads one side of a comparison, which is one snapshot.
func loadSide(ctx context.Context, f *inputFlags, s *config.Settings, path string) (*graph.Snapshot, error) {
	opts, err := f.options(s)
	if err != nil {
		return nil, err
	}
	p := startProgress(os.Stderr)
	opts.Progress = p.reading
	input, err := load.Paths(ctx, []string{path}, opts)
	p.stop()
	if err != nil {
		if ctx.Err() != nil {
			return nil, failed(fmt.Errorf("interrupted"))
		}
		return nil, err
	}
	if f.showFiles {
		showFiles(os.Stderr, input)
	}
	snapshot, err := input.One(path)
	if errors.Is(err, load.ErrNothing) {
		err = fmt.Errorf("%w (--show-files says what was skipped, and why)", err)
	}
	return snapshot, err
}
