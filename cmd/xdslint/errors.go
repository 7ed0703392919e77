package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xdslint/xdslint/lint"
)

// plain says what is wrong with a file without the names of system calls.
func plain(err error) string {
	path, ok := errors.AsType[*fs.PathError](err)
	switch {
	case !ok:
		return err.Error()
	case errors.Is(err, fs.ErrNotExist):
		if dir := filepath.Dir(path.Path); !exists(dir) {
			return "no such folder: " + dir
		}
		return "no such file: " + path.Path
	case errors.Is(err, fs.ErrExist):
		return path.Path + " already exists"
	case errors.Is(err, syscall.EISDIR):
		return path.Path + ": this is a folder"
	case errors.Is(err, syscall.ENOTDIR):
		return path.Path + ": this is not a folder"
	}
	return path.Path + ": " + path.Err.Error()
}

// flagError says what to write instead of a flag that does not exist, and of a value that a flag does not take.
func flagError(cmd *cobra.Command, err error) error {
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		value, _ := pflag.UnquoteUsage(missing.GetFlag())
		return fmt.Errorf("--%s needs a value: %s", missing.GetFlag().Name, value)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if form := forms[invalid.GetFlag().Value.Type()]; form != "" {
			return fmt.Errorf("--%s %s: write %s", invalid.GetFlag().Name, invalid.GetValue(), form)
		}
	}
	name, ok := strings.CutPrefix(err.Error(), "unknown flag: --")
	if !ok {
		return err
	}
	if near := lint.Nearest(name, flagNames(cmd)); near != "" {
		return fmt.Errorf("unknown flag --%s (did you mean --%s?)", name, near)
	}
	return fmt.Errorf("unknown flag --%s (%s --help lists them)", name, cmd.CommandPath())
}

// forms are how values of flags are written, by their types.
var forms = map[string]string{
	"bool": "true or false", "duration": "a duration such as 30s", "int": "a whole number", "int64": "a whole number", "uint32": "a whole number from 0",
}
