//go:build gen

// Command targets writes the tables of dataplane/builds for the real Envoys under .tools/, whose versions it is given. The tag keeps it
// out of `go install ./...`.
package main

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, version := range os.Args[1:] {
		if err := write(ctx, strings.TrimSuffix(version, path.Ext(version))); err != nil {
			fmt.Fprintln(os.Stderr, "targets:", err)
			os.Exit(1)
		}
	}
}

func write(ctx context.Context, version string) error {
	table, err := envoytest.Version(version).Table(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("dataplane", "builds", "envoy-"+version+".txt"), []byte(table), 0o644)
}
