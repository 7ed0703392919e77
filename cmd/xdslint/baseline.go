package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/baseline"
	"github.com/xdslint/xdslint/lint"
)

func newBaseline() *cobra.Command {
	cmd := &cobra.Command{
		Use: "baseline", Short: "Start with many findings: show only new ones", DisableFlagsInUseLine: true,
		Long: `A baseline remembers the findings that are there today, in ` + baseline.FileName + `; xdslint then shows only
what is new. Entries are keyed by rule, resource and field: moving lines does not bring a finding back.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("baseline has no command %q%s: write, prune", args[0], lint.DidYouMean(args[0], []string{"write", "prune"}))
			}
			return nil
		},
		RunE: func(*cobra.Command, []string) error { return errors.New("baseline needs a command: write or prune") },
	}
	cmd.AddCommand(
		baselineCommand("write PATH…", "Write all findings of today into a baseline", writeBaseline),
		baselineCommand("prune PATH…", "Take out of the baseline what no longer occurs", pruneBaseline),
	)
	return cmd
}

func baselineCommand(use, short string, do func(*cobra.Command, *check) error) *cobra.Command {
	f := &checkFlags{}
	cmd := &cobra.Command{
		Use: use, Short: short, Args: cobra.ArbitraryArgs, DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := newCheck(cmd, f, args)
			if err != nil {
				return err
			}
			if err := c.run(cmd.Context(), cmd.ErrOrStderr()); err != nil {
				return err
			}
			// What is incomplete must not become the truth.
			if cmd.Context().Err() != nil {
				return failed(errors.New("interrupted: the baseline is as it was"))
			}
			if c.failures(cmd.ErrOrStderr()) {
				return failed(errors.New("the baseline is as it was"))
			}
			return do(cmd, c)
		},
	}
	f.add(cmd)
	return cmd
}

func writeBaseline(cmd *cobra.Command, c *check) error {
	path := c.baselinePath()
	if path == "" {
		path = baseline.FileName
		if c.Settings.File != nil {
			path = filepath.Join(filepath.Dir(c.Settings.File.Name), path)
		}
	}
	b := baseline.Of(c.result.Diagnostics, relativeTo(filepath.Dir(path), c.paths))
	if err := saveBaseline(path, b); err != nil {
		return err
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", path, count(len(c.result.Diagnostics), "finding"))
	return failed(err)
}

func pruneBaseline(cmd *cobra.Command, c *check) error {
	path := c.baselinePath()
	if path == "" {
		return fmt.Errorf("there is no %s; xdslint baseline write makes one", baseline.FileName)
	}
	b, err := baseline.Read(path, path)
	if err != nil {
		return err
	}
	pruned := b.Prune(c.result.Diagnostics)
	if pruned > 0 {
		if err := saveBaseline(path, b); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%s: %s taken out, %s left\n", path, count(pruned, "finding"), count(b.Size(), "finding"))
	return failed(err)
}

func saveBaseline(path string, b *baseline.Baseline) error {
	f, err := os.Create(path)
	if err != nil {
		return failed(err)
	}
	return failed(errors.Join(b.Write(f), f.Close()))
}

func count(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
