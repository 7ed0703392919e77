package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint/internal/report"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/lint"
)

// showDiff writes what --fix would change.
func (f *lintFlags) showDiff(cmd *cobra.Command, found *found) error {
	before, after := found.fixed.Before.Result, found.fixed.After.Result
	hidesOld, hidesNew := report.Hides(before), report.Hides(after)
	for _, file := range found.fixed.Files {
		oldFile, newFile := fileOf(before, file.Name), fileOf(after, file.Name)
		text := udiff.Unified(file.Name, file.Name, string(file.Before), string(file.After))
		hidden := redacted{
			old: func(line int) bool { return hidesOld(oldFile, line) },
			new: func(line int) bool { return hidesNew(newFile, line) },
		}
		if _, err := io.WriteString(cmd.OutOrStdout(), hidden.diff(text)); err != nil {
			return failed(err)
		}
	}
	f.sayFixes(cmd.ErrOrStderr(), found)
	switch {
	case cmd.Context().Err() != nil:
		return failed(errors.New("interrupted: the diff may be incomplete"))
	case ruleFailures(cmd.ErrOrStderr(), after):
		return failed(errors.New(""))
	case len(found.fixed.Files) > 0:
		return &status{statusFindings, nil}
	}
	return nil
}

// fileOf finds a file of a result by its name.
func fileOf(result *lint.Result, name string) *source.File {
	for _, s := range result.Snapshots {
		for _, r := range s.Resources {
			if r.File.Name == name {
				return r.File
			}
		}
	}
	return &source.File{Name: name}
}

// redacted reports which lines of the old and of the new text must not be shown.
type redacted struct{ old, new func(line int) bool }

// diff shows a unified diff without the lines that hold a secret.
func (r redacted) diff(text string) string {
	var out strings.Builder
	from, to := 0, 0
	for line := range strings.Lines(text) {
		hide := false
		switch {
		case strings.HasPrefix(line, "@@"):
			from, to = hunk(line)
		case from == 0 && to == 0: // the names of the files
		case line[0] == '-':
			hide = r.old(from)
			from++
		case line[0] == '+':
			hide = r.new(to)
			to++
		case line[0] == ' ':
			hide = r.old(from)
			from, to = from+1, to+1
		}
		if hide {
			line = line[:1] + "line not shown: it holds a secret\n"
		}
		out.WriteString(line)
	}
	return out.String()
}

// hunk reads the numbers of the first lines, as in @@ -1,7 +1,6 @@.
func hunk(line string) (from, to int) {
	for _, word := range strings.Fields(line) {
		switch word[0] {
		case '-':
			_, _ = fmt.Sscanf(word, "-%d", &from) // udiff wrote a number there
		case '+':
			_, _ = fmt.Sscanf(word, "+%d", &to)
		}
	}
	return from, to
}
