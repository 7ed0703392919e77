//go:build gen

// Command benchadmission is a part of `make bench-admission`: it puts a running `xdslint serve` under load, and measures it next to its peers,
// a process for each request. The tag keeps it out of `go install ./...`.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/xdslint/xdslint/internal/bench"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench-admission:", err)
		os.Exit(1)
	}
}

func run() error {
	duration := flag.Duration("duration", time.Minute, "how long each size is sent")
	clients := flag.Int("clients", 64, "clients at once")
	xdslint := flag.String("xdslint", "bin/xdslint", "the binary")
	envoy := flag.String("envoy", ".tools/bin/envoy", "the peer")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "xdslint-admission-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)

	fmt.Println("| snapshot | judged by | a second | p50 | p99 | answers | memory, first quarter | last quarter | peak |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	for _, size := range []int{1, 10} {
		file, err := write(dir, size)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("%d MB", size)
		load, err := serve(ctx, *xdslint, file, *clients, *duration)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | xdslint serve, %d clients | %s |\n", name, *clients, load)
		// As many processes at once as there are processors, for less time: they do not grow.
		for _, peer := range []struct {
			name string
			args []string
		}{
			{"a process of xdslint each", []string{*xdslint, "lint", "--no-config", "--format", "json", file}},
			{"envoy --mode validate each", []string{*envoy, "--mode", "validate", "-l", "critical", "--service-node", "n", "--service-cluster", "c", "-c", file}},
		} {
			r, err := processes(ctx, peer.args, runtime.GOMAXPROCS(0), *duration/4)
			if err != nil {
				return fmt.Errorf("%s: %w", peer.name, err)
			}
			fmt.Printf("| %s | %s | %s | | | |\n", name, peer.name, r)
		}
	}
	return nil
}

// write makes a bootstrap of about as many megabytes.
func write(dir string, megabytes int) (string, error) {
	const perService = 1108 // bytes of a service as compact JSON
	raw, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(bench.Gateway(megabytes * 1_000_000 / perService))
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, fmt.Sprintf("%dMB.json", megabytes))
	fmt.Fprintf(os.Stderr, "%s has %d bytes\n", filepath.Base(file), len(raw))
	return file, os.WriteFile(file, raw, 0o600)
}

// measured are the latencies and the outcomes of requests.
type measured struct {
	took     []time.Duration // of those that were judged
	statuses map[int]int     // processes have none
	wall     time.Duration
}

func (m *measured) String() string {
	if len(m.took) == 0 {
		return "0 | | | " + m.answers()
	}
	slices.Sort(m.took)
	at := func(percent int) time.Duration {
		return m.took[(len(m.took)-1)*percent/100].Round(time.Millisecond)
	}
	return fmt.Sprintf("%.1f | %s | %s | %s", float64(len(m.took))/m.wall.Seconds(), at(50), at(99), m.answers())
}

func (m *measured) answers() string {
	var parts []string
	for status, n := range m.statuses {
		parts = append(parts, fmt.Sprintf("%d × %d", n, status))
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// processes runs a program again and again.
func processes(ctx context.Context, args []string, atOnce int, duration time.Duration) (*measured, error) {
	return repeat(ctx, atOnce, duration, func(ctx context.Context) (int, error) {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Stdout = io.Discard
		return 0, cmd.Run()
	})
}
