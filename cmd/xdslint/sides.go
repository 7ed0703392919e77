package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/words"
)

// oldAndNew checks the arguments of commands that compare.
func oldAndNew(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%s takes two paths, OLD and NEW, and got %d", cmd.Name(), len(args))
	}
	if args[0] == "-" && args[1] == "-" {
		return fmt.Errorf("only one of OLD and NEW can be standard input")
	}
	return checkPaths(args)
}

// sides reads the inputs at two paths.
func (f *inputFlags) sides(cmd *cobra.Command, o xdslint.Options, paths []string) (l *xdslint.Linter, sides [2]xdslint.Input, err error) {
	times, err := f.times()
	if err != nil {
		return nil, sides, err
	}
	var files []load.FileReport
	for i, path := range paths {
		o.Load.At = times[i]
		var p *progress
		if l, p, err = newLinter(cmd.ErrOrStderr(), o); err != nil {
			return nil, sides, err
		}
		input, err := f.load(cmd, l, p, xdslint.Paths(path))
		if err != nil {
			return nil, sides, err
		}
		sides[i] = xdslint.Loaded(input).Named(path)
		files = append(files, input.Files...)
	}
	return l, sides, f.checkRecording(files)
}

// given reads the input of a command without rules, and prints the files that could not be read.
func (f *inputFlags) given(cmd *cobra.Command, args []string) (*load.Input, error) {
	o, err := settings(cmd.Context(), f)
	if err != nil {
		return nil, err
	}
	l, p, in, err := prepared(cmd, args, o)
	if err != nil {
		return nil, err
	}
	read, err := f.load(cmd, l, p, in)
	if err != nil {
		return nil, err
	}
	if err := f.checkRecording(read.Files); err != nil {
		return nil, err
	}
	for _, file := range unread(read) {
		fmt.Fprintf(cmd.ErrOrStderr(), "xdslint: not read: %s\n", file)
	}
	// A file that is only named, such as that of a secret, may be missing on this machine although all works.
	for _, s := range read.Snapshots {
		f.incomplete = f.incomplete || slices.ContainsFunc(s.Resources, func(r *graph.Resource) bool {
			return r.Kind == graph.File && slices.ContainsFunc(r.Problems, func(p graph.Problem) bool { return !p.Lenient })
		})
	}
	return read, nil
}

// ended returns the exit status of a command without rules that has shown its result. What an unread file would have changed is not known.
func (f *inputFlags) ended(found bool) error {
	if found || f.incomplete {
		return &status{code: statusFindings}
	}
	return nil
}

// unread lists the files that could not be read, and why. Their resources are missing in what the command shows.
func unread(input *load.Input) (all []string) {
	for _, snapshot := range input.Snapshots {
		for _, r := range snapshot.Resources {
			for _, p := range r.Problems {
				if r.Kind == graph.File && !p.Lenient || p.Kind == graph.Unreadable {
					all = append(all, words.Printable(load.Placed(r.File, p)))
				}
			}
		}
	}
	return all
}

// one reads the only configuration at some paths.
func (f *inputFlags) one(cmd *cobra.Command, paths []string) (*graph.Snapshot, error) {
	read, err := f.given(cmd, paths)
	if err != nil {
		return nil, err
	}
	return only(cmd, paths, read)
}

// only returns the only configuration of what was read at some paths.
func only(cmd *cobra.Command, paths []string, read *load.Input) (*graph.Snapshot, error) {
	snapshot, err := read.One(strings.Join(paths, " "))
	if err != nil {
		return nil, compared(cmd.Context(), err)
	}
	return snapshot, nil
}

// load reads an input, and with --show-files lists how its files were read.
func (f *inputFlags) load(cmd *cobra.Command, l *xdslint.Linter, p *progress, in xdslint.Input) (*load.Input, error) {
	p.start()
	input, err := l.Load(cmd.Context(), in)
	p.stop()
	switch {
	case err != nil && cmd.Context().Err() != nil:
		return nil, failed(errors.New("interrupted"))
	case err != nil:
		return nil, err
	}
	if f.showFiles {
		showFiles(cmd.ErrOrStderr(), input.Files)
	}
	return input, nil
}

// compared returns the error of a comparison.
func compared(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return failed(errors.New("interrupted"))
	case errors.Is(err, load.ErrNothing):
		return fmt.Errorf("%w (--show-files says what was skipped, and why)", err)
	}
	return err
}
