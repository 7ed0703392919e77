//go:build gen

// Command posture is `make posture`: it compares what is said of guards with the real Envoy. The tag keeps it out of `go install ./...`.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"

	"github.com/xdslint/xdslint/internal/walktest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "posture:", err)
		os.Exit(1)
	}
}

// figures are the part of the page that the command writes.
var figures = regexp.MustCompile(`(?s)(<!-- figures of make posture -->\n).*?(<!-- end -->)`)

func run() error {
	var o walktest.Options
	flag.IntVar(&o.Configurations, "configurations", 100, "`number` of configurations")
	flag.IntVar(&o.Requests, "requests", 50, "`number` of requests for each")
	flag.Uint64Var(&o.Seed, "seed", 1, "`seed` of the first configuration; the next ones follow")
	out := flag.String("out", "", "`file` with the page; empty: none")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := walktest.RunGuards(ctx, o)
	if err != nil {
		return err
	}
	fmt.Print(report.Summary())
	for _, d := range report.Disagreements {
		fmt.Println("-", d)
	}
	if *out != "" {
		page, err := os.ReadFile(*out)
		if err != nil {
			return err
		}
		page = figures.ReplaceAll(page, []byte("${1}\n"+report.Summary()+"\n${2}"))
		if err := os.WriteFile(*out, page, 0o644); err != nil {
			return err
		}
	}
	if len(report.Disagreements) > 0 {
		return fmt.Errorf("%d disagreements", len(report.Disagreements))
	}
	return nil
}
