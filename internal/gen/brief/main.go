//go:build gen

// Command brief writes the brief form of every rule's archive into a folder, and overlay.json, with which `go build -overlay` embeds these in place
// of the whole archives. The tag keeps it out of `go install ./...`.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/xdslint/xdslint/internal/explain"
)

func main() {
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "brief:", err)
		os.Exit(1)
	}
}

func write(to string) error {
	to, err := filepath.Abs(to)
	if err != nil {
		return err
	}
	archives, err := filepath.Glob("testdata/rules/*/*.txtar")
	if err != nil {
		return err
	}
	replace := map[string]string{}
	for _, path := range archives {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return err
		}
		from, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		replace[from] = filepath.Join(to, path)
		if err := os.MkdirAll(filepath.Dir(replace[from]), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(replace[from], txtar.Format(explain.Brief(archive)), 0o644); err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, "overlay.json"), text, 0o644)
}
