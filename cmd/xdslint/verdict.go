package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/verdict"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

type verdictFlags struct {
	targets     []string
	grpcEnv     []string
	format      string
	stdinName   string
	descriptors []string
	noConfig    bool
}

func newVerdict() *cobra.Command {
	f := &verdictFlags{}
	cmd := &cobra.Command{
		Use: "verdict PATH…", Short: "Show whether a data plane would accept each file", DisableFlagsInUseLine: true,
		Long: `Judge each file alone: would this target accept it? In a folder, each file with a known extension is judged.
The configuration file, suppressions and severities have no effect. A verdict is about the official build of the target.
lint reports a type that this build lacks as a warning, since another build may have it, and as an error with --target.

Exit status: 0 all are accepted, 1 any is rejected, 2 the command line is wrong, 3 a file could not be read.`,
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.targets, "target", nil, "target to judge for, as `PLANE:VERSION` (default "+dataplane.Default().String()+"); can be repeated")
	addGRPCEnv(flags, &f.grpcEnv)
	flags.StringVar(&f.format, "format", "text", "`FORMAT` of the verdicts: text, jsonl (one object per line for each file and target)")
	flags.StringVar(&f.stdinName, "stdin-filename", "", "`NAME` of standard input; its extension selects the encoding")
	addDescriptors(flags, &f.descriptors)
	flags.BoolVar(&f.noConfig, "no-config", false, "no effect: verdict never reads a configuration")
	complete(cmd, "format", []string{"text", "jsonl"})
	return cmd
}

func (f *verdictFlags) run(cmd *cobra.Command, args []string) error {
	write := writeVerdictText
	switch f.format {
	case "text":
	case "jsonl":
		write = writeVerdictJSON
	default:
		return unknownFormat(f.format, []string{"text", "jsonl"})
	}
	if len(args) == 0 {
		return errors.New("verdict needs a file or a folder")
	}
	if err := checkPaths(args); err != nil {
		return err
	}
	j := judge{ctx: cmd.Context()}
	var err error
	if j.paths, err = verdictPaths(args); err != nil {
		return err
	}
	if len(j.paths) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "xdslint: "+noFiles)
	}
	o := xdslint.Options{Targets: f.targets, GRPCEnv: f.grpcEnv, Load: load.Options{Stdin: os.Stdin, StdinName: f.stdinName}}
	if o.Load.Types, err = types(f.descriptors); err != nil {
		return err
	}
	if j.linter, err = xdslint.New(o); err != nil {
		return err
	}

	out := bufio.NewWriter(cmd.OutOrStdout())
	rejected := false
	var errs []error
	for a := range j.all() {
		for _, v := range a.verdicts {
			rejected = rejected || v.Verdict == verdict.Reject
			if err := write(out, &v); err != nil {
				return failed(err)
			}
		}
		if a.err != nil {
			errs = append(errs, errors.New(plain(a.err)))
		}
	}
	if err := out.Flush(); err != nil {
		return failed(err)
	}
	switch {
	case cmd.Context().Err() != nil:
		return failed(errors.New("interrupted: the verdicts are incomplete"))
	case len(errs) > 0:
		return failed(errors.Join(errs...))
	case rejected:
		return &status{statusFindings, nil}
	}
	return nil
}

// verdictPaths lists the files to judge, as they were given.
func verdictPaths(args []string) (all []string, err error) {
	for _, arg := range args {
		if arg == "-" {
			all = append(all, arg)
			continue
		}
		info, err := os.Stat(arg)
		if errors.Is(err, fs.ErrNotExist) && strings.ContainsAny(arg, "*?[") {
			matches, globErr := filepath.Glob(arg)
			if globErr != nil || len(matches) == 0 {
				return nil, fmt.Errorf("%s: no file matches", arg)
			}
			more, err := verdictPaths(matches)
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
			continue
		}
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			all = append(all, arg)
			continue
		}
		all = append(all, verdictFolder(arg)...)
	}
	return all, nil
}

// verdictFolder lists the files of a folder and its subfolders, without hidden ones. Unreadable files are listed too, so that
// judging them fails.
func verdictFolder(root string) (all []string) {
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error { // the errors are in the list
		switch {
		case err != nil:
			all = append(all, path)
			return fs.SkipDir
		case entry.IsDir() && path != root && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !load.Known(path):
			return nil
		}
		if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
			all = append(all, path)
		}
		return nil
	})
	return all
}

// judge judges all files for the targets, in parallel. The results are in the order of the files.
type judge struct {
	ctx    context.Context
	paths  []string
	linter *xdslint.Linter
}

type answer struct {
	verdicts []verdict.Verdict
	err      error
}

func (j *judge) all() func(yield func(answer) bool) {
	answers := make([]chan answer, len(j.paths))
	for i := range answers {
		answers[i] = make(chan answer, 1)
	}
	next := make(chan int, len(j.paths))
	for i := range j.paths {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				var a answer
				if a.err = j.ctx.Err(); a.err == nil {
					a.verdicts, a.err = j.linter.Verdict(j.ctx, xdslint.Paths(j.paths[i]))
				}
				answers[i] <- a
			}
		})
	}
	return func(yield func(answer) bool) {
		defer workers.Wait()
		for _, c := range answers {
			if a := <-c; j.ctx.Err() != nil || !yield(a) {
				return
			}
		}
	}
}

func writeVerdictJSON(w io.Writer, v *verdict.Verdict) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

func writeVerdictText(w io.Writer, v *verdict.Verdict) error {
	assumed := ""
	if len(v.Assumes) > 0 {
		assumed = ", if " + strings.Join(v.Assumes, " and ")
	}
	if _, err := fmt.Fprintf(w, "%s: %s %ss it as a %s%s\n", words.Name(v.Path), v.Target, v.Verdict, v.Delivery, assumed); err != nil {
		return err
	}
	for _, r := range v.Reasons {
		where := ""
		if r.Line > 0 {
			where = fmt.Sprintf("%d:%d: ", r.Line, r.Column)
		}
		fmt.Fprintf(w, "  %s%s [%s]\n", where, words.Printable(r.Message), r.Rule)
		if r.Field != "" {
			fmt.Fprintf(w, "    in: %s\n", words.Printable(r.Field))
		}
		if r.Upstream != "" {
			fmt.Fprintf(w, "    it says: %s\n", words.Printable(r.Upstream))
		}
		if r.Severity != lint.Error.String() {
			fmt.Fprintf(w, "    lint reports a %s here, since other builds may accept it\n", r.Severity)
		}
	}
	return nil
}
