//go:build gen

// Command walk is `make walk`: it compares walks with the real Envoy. The tag keeps it out of `go install ./...`.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"

	"github.com/xdslint/xdslint/internal/walktest"
)

//go:embed page.md
var page string

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
}

func run() error {
	var o walktest.Options
	flag.IntVar(&o.Configurations, "configurations", 250, "`number` of configurations")
	flag.IntVar(&o.Requests, "requests", 100, "`number` of requests for each")
	flag.Uint64Var(&o.Seed, "seed", 1, "`seed` of the first configuration; the next ones follow")
	out := flag.String("out", "", "`file` for the page; empty: none")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o.Progress = func(r walktest.Report) {
		fmt.Fprintf(os.Stderr, "%d configurations, %d requests, %d disagreements\n", r.Configurations, r.Requests, len(r.Disagreements))
	}
	report, err := walktest.Run(ctx, o)
	if err != nil {
		return err
	}
	fmt.Print(report.Summary())
	if *out != "" {
		if err := os.WriteFile(*out, []byte(strings.Replace(page, "TABLES\n", report.Summary(), 1)), 0o644); err != nil {
			return err
		}
	}
	if len(report.Disagreements) > 0 || report.UnknownShare() > 2 {
		return fmt.Errorf("%d disagreements, and %.2f %% of the requests with something that is not known", len(report.Disagreements), report.UnknownShare())
	}
	return nil
}
