//go:build gen

// Command extensions prints the table of lint/target for the real Envoy under .tools/. The tag keeps it out of `go install ./...`.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/xdslint/xdslint/internal/envoytest"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	table, err := envoytest.Extensions(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "extensions:", err)
		os.Exit(1)
	}
	fmt.Print(table)
}
