//go:build gen

// Command agree is `make agree`: it measures how far xdslint and the real Envoy agree. The tag keeps it out of `go install ./...`.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/xdslint/xdslint/internal/difftest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "agree:", err)
		os.Exit(1)
	}
}

func run() error {
	var o difftest.Options
	flag.IntVar(&o.N, "n", 300, "`number` of cases")
	flag.Uint64Var(&o.Seed, "seed", 1, "`seed` of the random choices: the same seed gives the same cases")
	flag.StringVar(&o.Folder, "folder", "", "`folder` with more bootstraps to mutate")
	flag.StringVar(&o.Out, "out", ".tools/agree", "`folder` for the shrunk cases; those of an earlier run are replaced")
	minRecall := flag.Float64("min-recall", 95, "`percent` of what Envoy rejects that xdslint must reject")
	maxFalse := flag.Float64("max-false", 0.5, "`percent` of what Envoy accepts that xdslint may reject")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := difftest.Run(ctx, o)
	if err != nil {
		return err
	}
	report.Print(os.Stdout)
	if report.Recall() < *minRecall || report.FalseShare() > *maxFalse {
		return fmt.Errorf("xdslint rejects %.1f%% of what Envoy rejects (at least %g%% required) and %.2f%% of what Envoy accepts (at most %g%% allowed)",
			report.Recall(), *minRecall, report.FalseShare(), *maxFalse)
	}
	return nil
}
