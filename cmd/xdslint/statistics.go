package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/xdslint/xdslint"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/graph/load"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

// showFiles lists how each file was read.
func showFiles(w io.Writer, files []load.FileReport) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range files {
		as := f.As
		if as == "" {
			as = "skipped: " + f.Why
		}
		fmt.Fprintf(t, "%s\t%s\n", words.Name(f.Path), as)
	}
	_ = t.Flush() // to standard error
}

// statistics prints what was read, and what could not be judged.
func statistics(w io.Writer, r *xdslint.Report) {
	resources, rules := map[string]int{}, map[string]int{}
	edges, dangling, open, opaque := 0, 0, map[string]int{}, 0
	var walker graph.Walker
	for _, s := range r.Snapshots {
		for _, res := range s.Resources {
			resources[string(res.Kind)]++
			walker.Walk(res, func(at *graph.Place) {
				if at.Opaque {
					opaque++
				}
			})
		}
		for _, e := range s.References() {
			edges++
			switch {
			case e.To != nil || s.Assumes(e.Kind, e.Target):
			case s.World(e.Kind, e.Source) == graph.Open:
				open[string(e.Kind)]++
			default:
				dangling++
			}
		}
	}
	for i := range r.Diagnostics {
		rules[r.Diagnostics[i].Rule.ID()] += r.Diagnostics[i].Count()
	}
	files := r.Summary()
	fmt.Fprintf(w, "files: %d read, %d skipped; snapshots: %d\n", files.Read, files.Skipped, len(r.Snapshots))
	table(w, "resources", resources)
	fmt.Fprintf(w, "references: %d, of which %d are dangling\n", edges, dangling)
	table(w, "references that were not checked, because their targets may exist elsewhere (--closed KIND checks them)", open)
	fmt.Fprintf(w, "extensions that could not be decoded: %d\n", opaque)
	table(w, "findings", rules)
}

// timings prints the duration of each step in order, then of the rules, which run in parallel.
func timings(w io.Writer, r *xdslint.Report) {
	line := func(what string, took time.Duration) {
		fmt.Fprintf(w, "%9.2f ms  %s\n", float64(took.Microseconds())/1000, what)
	}
	for _, stage := range r.Stages {
		line(stage.Name, stage.Took)
	}
	fmt.Fprintln(w, "rules, on all processors together:")
	rules := slices.SortedFunc(maps.Keys(r.Timings), func(a, b *lint.Rule) int {
		return cmp.Or(cmp.Compare(r.Timings[b], r.Timings[a]), cmp.Compare(a.ID(), b.ID()))
	})
	for _, rule := range rules {
		line(rule.ID(), r.Timings[rule])
	}
}

func table(w io.Writer, title string, count map[string]int) {
	total := 0
	for _, n := range count {
		total += n
	}
	fmt.Fprintf(w, "%s: %d\n", title, total)
	names := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	})
	for _, name := range names {
		fmt.Fprintf(w, "%8d  %s\n", count[name], name)
	}
}
