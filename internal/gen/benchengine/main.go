//go:build gen

// Command benchengine is a part of `make bench-web`: it lints standard input with the engine of the playground, as it is natively, and
// prints the milliseconds of each run as JSON. The tag keeps it out of `go install ./...`.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/xdslint/xdslint/internal/playground"
)

func main() {
	runs := flag.Int("runs", 50, "how many runs are measured, after five that are not")
	flag.Parse()
	if err := run(*runs); err != nil {
		fmt.Fprintln(os.Stderr, "benchengine:", err)
		os.Exit(1)
	}
}

func run(runs int) error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	times, engine := []float64{}, &playground.Engine{}
	for i := -5; i < runs; i++ {
		request, err := json.Marshal(map[string]any{"files": map[string]string{"envoy.yaml": fmt.Sprintf("%s# %d\n", text, i)}, "targets": []string{}})
		if err != nil {
			return err
		}
		begun := time.Now()
		engine.Call("lint", request)
		if i >= 0 {
			times = append(times, time.Since(begun).Seconds()*1000)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(times)
}
