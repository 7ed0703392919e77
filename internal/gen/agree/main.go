//go:build gen

// Command agree is `make agree`: it measures how far xdslint and the real Envoy agree. The tag keeps it out of `go install ./...`.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/xdslint/xdslint/internal/agree"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "agree:", err)
		os.Exit(1)
	}
}

func run() error {
	var o agree.Options
	flag.IntVar(&o.N, "n", 300, "how many cases")
	flag.Uint64Var(&o.Seed, "seed", 1, "of the random choices: the same seed gives the same cases")
	flag.StringVar(&o.Folder, "folder", "", "folder of more bootstraps to mutate")
	flag.StringVar(&o.Out, "out", ".tools/agree", "folder for the small cases; those of an earlier run are replaced")
	minRecall := flag.Float64("min-recall", 95, "percent of what Envoy rejects that has to be found")
	maxFalse := flag.Float64("max-false", 0.5, "percent of what Envoy accepts that may be rejected")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := agree.Run(ctx, o)
	if err != nil {
		return err
	}
	report.Print(os.Stdout)
	if report.Recall() < *minRecall || report.FalseShare() > *maxFalse {
		return fmt.Errorf("of what Envoy rejects %.1f%% is rejected (at least %g%% are wanted), of what it accepts %.2f%% (at most %g%%)",
			report.Recall(), *minRecall, report.FalseShare(), *maxFalse)
	}
	return nil
}
