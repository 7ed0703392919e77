//go:build gen

// Command transitions is `make transitions`: it measures what transitions cost, plainly pushed and planned. The tag keeps it out of
// `go install ./...`.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"text/template"

	"github.com/xdslint/xdslint/internal/transitions"
	"github.com/xdslint/xdslint/lint"
)

//go:embed page.md.tmpl
var page string

const folder = "testdata/transitions"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "transitions:", err)
		os.Exit(1)
	}
}

func run() error {
	runs := flag.Int("runs", 3, "runs of each case in each mode")
	parallel := flag.Int("parallel", 4, "Envoys at once")
	only := flag.String("case", "", "only cases whose names hold this")
	over := flag.String("transports", "ads-sotw,ads-delta", "how the configuration comes to Envoy; also sotw and delta, with a stream for each type")
	out := flag.String("out", "", "file for the page; empty: none")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	all, err := transitions.Cases(ctx, folder)
	if err != nil {
		return err
	}
	var cases []*transitions.Case
	for _, c := range all {
		if strings.Contains(c.Name, *only) {
			cases = append(cases, c)
		}
	}
	var transports []lint.Transport
	for name := range strings.SplitSeq(*over, ",") {
		push, err := lint.ParsePush(name, "")
		if err != nil {
			return err
		}
		transports = append(transports, push.Transport)
	}
	jobs := transitions.Jobs(cases, transports, *runs)
	n := 0
	outcomes := transitions.Bench(ctx, jobs, *parallel, func(o transitions.Outcome) {
		n++
		fmt.Fprintf(os.Stderr, "%d/%d %s\n", n, len(jobs), o)
	})
	table := transitions.Table(outcomes)
	fmt.Print(table)
	if *out != "" {
		if err := write(*out, cases, *runs, table); err != nil {
			return err
		}
	}
	return transitions.Verdict(outcomes)
}

func write(path string, cases []*transitions.Case, runs int, table string) error {
	t, err := template.New("page").Parse(page)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	err = t.Execute(&text, map[string]any{
		"Folder": folder, "Cases": cases, "Runs": runs, "Table": table, "Rate": transitions.FullRate, "RTT": transitions.FarRTT,
	})
	if err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}
