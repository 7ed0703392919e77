package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/cmd/xdslint/internal/start"
	"github.com/xdslint/xdslint/internal/config"
	"github.com/xdslint/xdslint/internal/words"
)

// settled is how long files must be unchanged before they are read: editors write a file in several steps.
const settled = 15 * time.Millisecond

// watch lints now, and again whenever files change, until the user ends it. A mistake on the command line ends it at once, a later one, such as
// in a configuration that is being edited, does not.
func (f *lintFlags) watch(cmd *cobra.Command, args []string) error {
	if err := f.checkWatch(args); err != nil {
		return err
	}
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return failed(err)
	}
	defer func() { _ = w.Close() }()
	start.Fix(100) // of what the session keeps
	var seen *xdslint.Report
	f.seen = func(r *xdslint.Report) { seen = r }
	for first := true; ; first = false {
		var s *status
		err := f.run(cmd, args)
		if cmd.Context().Err() != nil {
			return nil
		}
		if first && err != nil && !errors.As(err, &s) {
			return err
		}
		printError(err)
		if err := f.follow(w, args, seen); err != nil {
			return failed(err)
		}
		fmt.Fprintln(cmd.ErrOrStderr(), "xdslint: waiting for changes; Ctrl-C ends this")
		if !changed(cmd.Context(), w) {
			return nil
		}
		if out, ok := cmd.OutOrStdout().(*os.File); ok && isatty.IsTerminal(out.Fd()) {
			fmt.Fprint(out, "\x1b[H\x1b[2J\x1b[3J") // clears the terminal
		}
	}
}

// checkWatch rejects what cannot be combined with --watch.
func (f *lintFlags) checkWatch(args []string) error {
	if f.fix || f.diff {
		return errors.New("--watch only lints: remove --fix and --diff")
	}
	for _, arg := range args {
		if arg == "-" {
			return errors.New("--watch cannot read standard input again: name files or folders")
		}
	}
	return nil
}

// follow watches the folders of what was read, and those that the arguments name. A folder shows that a file in it was replaced, as editors do.
func (f *lintFlags) follow(w *fsnotify.Watcher, args []string, seen *xdslint.Report) error {
	folders := map[string]bool{}
	for _, path := range append([]string{f.config, findUp(config.FileName)}, args...) {
		if info, err := os.Stat(path); path != "" && err == nil && info.IsDir() {
			folders[path] = true
		} else if path != "" {
			folders[filepath.Dir(path)] = true
		}
	}
	if seen != nil {
		for _, file := range seen.Files {
			folders[filepath.Dir(file.Path)] = true
		}
	}
	for folder := range folders {
		if err := w.Add(folder); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s cannot be watched: %w", words.Name(folder), err)
		}
	}
	return nil
}

// changed waits for a change, and until no other one follows it. It reports false when the context has ended.
func changed(ctx context.Context, w *fsnotify.Watcher) bool {
	var quiet <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return false
		case <-quiet:
			return true
		case event := <-w.Events:
			if matters(event) {
				quiet = time.After(settled)
			}
		case <-w.Errors: //nolint:errcheck // such as more events than the system keeps: what changed is read in any case
			quiet = time.After(settled)
		}
	}
}

// matters reports whether an event can be about a file that is read: not one that an editor makes for itself.
func matters(event fsnotify.Event) bool {
	name := filepath.Base(event.Name)
	hidden := strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "..") && name != config.FileName // ..data is a mounted ConfigMap
	return !hidden && !strings.HasSuffix(name, "~") && name != "4913" && event.Op != fsnotify.Chmod     // vim tries whether it can write 4913
}
