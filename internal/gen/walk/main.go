//go:build gen

// Command walk compares what xdslint says about requests with the real Envoy. It is `make walk`, `make prove` and `make posture`. The tag keeps it out
// of `go install ./...`.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"

	"github.com/xdslint/xdslint/internal/walktest"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "walk:", err)
		os.Exit(1)
	}
}

// report is the outcome of a comparison.
type report interface {
	Summary() string // for the page
	Err() error      // that the comparison should fail for
}

// comparisons are the values of -of.
var comparisons = map[string]func(context.Context, walktest.Options) (report, error){
	"walks":  func(ctx context.Context, o walktest.Options) (report, error) { return walktest.Run(ctx, o) },
	"proofs": func(ctx context.Context, o walktest.Options) (report, error) { return walktest.RunPairs(ctx, o) },
	"guards": func(ctx context.Context, o walktest.Options) (report, error) { return walktest.RunGuards(ctx, o) },
}

func run() error {
	o := walktest.Options{Progress: func(line string) { fmt.Fprintln(os.Stderr, line) }}
	of := flag.String("of", "walks", "walks, proofs or guards")
	flag.IntVar(&o.Configurations, "configurations", 250, "`number` of configurations, or of pairs of them")
	flag.IntVar(&o.Requests, "requests", 100, "`number` of requests for each; of proofs, for each pair that is alike")
	flag.Uint64Var(&o.Seed, "seed", 1, "`seed` of the first configuration; the next ones follow")
	out := flag.String("out", "", "`page` whose figures are replaced; empty: none")
	flag.Parse()
	compare := comparisons[*of]
	if compare == nil {
		return fmt.Errorf("-of %s is not walks, proofs or guards", *of)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	r, err := compare(ctx, o)
	if err != nil {
		return err
	}
	fmt.Print(r.Summary())
	return errors.Join(write(*out, r.Summary()), r.Err())
}

// figures are the part of a page that the command writes.
var figures = regexp.MustCompile(`(?s)(<!-- figures of make \w+ -->\n).*?(<!-- end -->)`)

func write(path, summary string) error {
	if path == "" {
		return nil
	}
	page, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	parts := figures.FindSubmatchIndex(page)
	if parts == nil {
		return fmt.Errorf("%s has no place for figures", path)
	}
	text := string(page[:parts[3]]) + "\n" + summary + "\n" + string(page[parts[4]:])
	return os.WriteFile(path, []byte(text), 0o644)
}
