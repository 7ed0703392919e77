package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/decode"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/graph/source"
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
	all = slices.DeleteFunc(slices.Clone(all), patches)
	if len(all) == 0 {
		return nil, fmt.Errorf("%s holds patches and nothing that they patch: there is no configuration to compare", path)
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

// patches tells the snapshot of a patch in a Kubernetes object: what comes of it only its control plane knows.
func patches(s *graph.Snapshot) bool {
	return len(s.Resources) > 0 && !slices.ContainsFunc(s.Resources, func(r *graph.Resource) bool { return r.Kind != graph.Patch })
}

// serving tells whether a resource makes its snapshot more than the bootstrap of a proxy that gets all else pushed.
func serving(r *graph.Resource) bool {
	return r.Kind == graph.Listener || r.Kind != graph.Bootstrap && r.Kind != graph.File && r.Delivery == graph.Pushed
}

// placed is what is wrong, behind where it stands.
func placed(f *source.File, p decode.Problem) string {
	if f.Text == nil {
		return f.Name + ": " + p.Message
	}
	at := f.Position(p.Span.Start)
	return fmt.Sprintf("%s:%d:%d: %s", f.Name, at.Line, at.Column, p.Message)
}

// unreadable lists what is wrong in resources, and so takes no part in the comparison. A file that is no xDS at all is an error: what it
// should hold would look like a difference, or hide one.
func unreadable(s *graph.Snapshot) (places []string, err error) {
	for _, r := range s.Resources {
		for _, p := range r.Problems {
			if p.Lenient {
				continue
			}
			place := placed(r.File, p)
			if r.Kind == graph.File {
				return nil, errors.New(place)
			}
			places = append(places, place)
		}
	}
	return places, nil
}
