package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/xdslint/xdslint/internal/plugintest"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata/cli")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"xdslint": main,
		// A command for xdslint conform.
		"xdslint-change": changeOverHTTP,
		// A run in which a rule panics.
		"xdslint-broken": func() {
			rules.Groups[0].Add(&lint.Rule{
				Name: "broken", Severity: lint.Error, Summary: "a rule that panics",
				Run: lint.ForSnapshot(func(*lint.Pass) { panic("oops") }),
			})
			main()
		},
		// A run that is interrupted before it begins.
		"xdslint-interrupted": func() {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			os.Exit(execute(ctx, os.Args[1:]))
		},
	})
}

func TestCLI(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("..", "..", "testdata", "cli"),
		UpdateScripts: *update,
		Setup: func(env *testscript.Env) error {
			if err := servers(env); err != nil {
				return err
			}
			if err := toolchains(env); err != nil {
				return err
			}
			env.Setenv("ESC", "\x1b") // a script cannot contain it
			// The search for a configuration ends here.
			return os.Mkdir(filepath.Join(env.WorkDir, ".git"), 0o755)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":  wantStatus,
			"compile": compilePlugin,
		},
		Condition: func(name string) (bool, error) {
			if name != "rust" {
				return false, fmt.Errorf("no condition is named %q", name)
			}
			return plugintest.NoRust() == "", nil
		},
	})
}

// wantStatus is `status N COMMAND…`: the command ends with that status.
func wantStatus(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s ended with status %d, want %s", args[1], got, args[0])
	}
}
