package main

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/xdslint/xdslint/internal/plugintest"
)

// toolchains lets scripts build plugins, with the modules and crates of this machine.
func toolchains(env *testscript.Env) error {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB"}
	values, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return err
	}
	for i, value := range strings.Split(strings.TrimRight(string(values), "\n"), "\n") {
		env.Setenv(names[i], value)
	}
	env.Setenv("GOFLAGS", "-trimpath -buildvcs=false") // one module wherever it is built
	home, err := os.UserHomeDir()
	if err != nil {
		return err
	}
	env.Setenv("CARGO_HOME", cmp.Or(os.Getenv("CARGO_HOME"), filepath.Join(home, ".cargo")))
	env.Setenv("RUSTUP_HOME", cmp.Or(os.Getenv("RUSTUP_HOME"), filepath.Join(home, ".rustup")))
	root, err := plugintest.Root()
	if err != nil {
		return err
	}
	env.Setenv("ROOT", root)
	for name, folder := range map[string]string{"CARGO_TARGET_DIR": "new", "XDG_CACHE_HOME": "cache"} {
		kept, err := plugintest.Kept(folder)
		if err != nil {
			return err
		}
		env.Setenv(name, kept)
	}
	return nil
}

// compilePlugin is `compile FILE`: the cache of compiled plugins holds that one from now on.
func compilePlugin(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: compile FILE")
	}
	kept, err := plugintest.Kept("cache")
	ts.Check(err)
	ts.Check(plugintest.Compile([]byte(ts.ReadFile(args[0])), filepath.Join(kept, "xdslint", "plugins")))
}
