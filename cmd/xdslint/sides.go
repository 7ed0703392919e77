package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
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
func loadSide(ctx context.Context, f *inputFlags, path string) (*graph.Snapshot, *load.Input, error) {
	s, err := f.settings()
	if err != nil {
		return nil, nil, err
	}
	opts, err := f.options(s)
	if err != nil {
		return nil, nil, err
	}
	p := startProgress(os.Stderr)
	opts.Progress = p.reading
	input, err := load.Paths(ctx, []string{path}, opts)
	p.stop()
	if err != nil {
		if ctx.Err() != nil {
			return nil, nil, failed(fmt.Errorf("interrupted"))
		}
		return nil, nil, err
	}
	if f.showFiles {
		showFiles(os.Stderr, input)
	}
	snapshot, err := oneSnapshot(path, input.Snapshots)
	return snapshot, input, err
}

// oneSnapshot chooses what a path is about: the only snapshot, or the only one of several that traffic or a push has to do with, such
// as the resources that lie beside a bootstrap without any.
func oneSnapshot(path string, all []*graph.Snapshot) (*graph.Snapshot, error) {
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: nothing of xDS is there (--show-files says what was skipped, and why)", path)
	}
	candidates := all
	if len(all) > 1 {
		candidates = slices.DeleteFunc(slices.Clone(all), func(s *graph.Snapshot) bool { return !slices.ContainsFunc(s.Resources, serving) })
	}
	if len(candidates) == 1 {
		return candidates[0], nil
	}
	var names []string
	for _, s := range all {
		name := s.Name
		if s.Loose {
			name = "the resources in no bootstrap and no config_dump"
		}
		names = append(names, name)
	}
	return nil, fmt.Errorf("%s holds %d configurations, and only one can be compared: name one of %s", path, len(all), strings.Join(names, "; "))
}

// serving tells whether a resource makes its snapshot more than the bootstrap of a proxy that gets all else pushed.
func serving(r *graph.Resource) bool {
	return r.Kind == graph.Listener || r.Kind != graph.Bootstrap && r.Kind != graph.File && r.Delivery == graph.Pushed
}
