//go:build gen

// Command prove is `make prove`: it compares proofs with pairs of real Envoys. The tag keeps it out of `go install ./...`.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/xdslint/xdslint/internal/walktest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "prove:", err)
		os.Exit(1)
	}
}

func run() error {
	var o walktest.Options
	flag.IntVar(&o.Configurations, "pairs", 300, "`number` of pairs")
	flag.IntVar(&o.Requests, "requests", 2000, "`number` of requests for each pair that is alike")
	flag.Uint64Var(&o.Seed, "seed", 1, "`seed` of the first pair; the next ones follow")
	out := flag.String("out", "", "`page` whose last part, the table, is replaced; empty: none")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := walktest.RunPairs(ctx, o, func(p walktest.Pairs) { fmt.Fprintf(os.Stderr, "%d pairs, %d wrong\n", p.Pairs, len(p.Wrong)) })
	if err != nil {
		return err
	}
	fmt.Print(report.Summary())
	if *out != "" {
		if err := write(*out, report.Summary()); err != nil {
			return err
		}
	}
	if len(report.Wrong) > 0 {
		return fmt.Errorf("%d wrong", len(report.Wrong))
	}
	return nil
}

// write replaces the table at the end of a page.
func write(path, table string) error {
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, _, _ := strings.Cut(string(page), "| | |\n")
	return os.WriteFile(path, []byte(text+table), 0o644)
}
