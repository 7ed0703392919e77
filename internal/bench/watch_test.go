package bench

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkWatch saves a bootstrap with 10,000 clusters while `xdslint lint --watch` is running, each time with one value changed, and
// reports the time from a save to the end of the findings.
func BenchmarkWatch(b *testing.B) {
	xdslint, _ := binaries(b)
	config := Gateway(10_000)
	config.StaticResources.Listeners = nil
	file := write(b, config, "yaml")
	text, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	const value = "connect_timeout: 1s"
	at := len(text)/2 + bytes.Index(text[len(text)/2:], []byte(value))

	command := exec.CommandContext(b.Context(), xdslint, "lint", "--no-config", "--format", "json", "--watch", file)
	stderr, err := command.StderrPipe()
	if err == nil {
		err = command.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	wait := func() {
		for lines.Scan() {
			if strings.Contains(lines.Text(), "waiting for changes") {
				return
			}
		}
		b.Fatal("xdslint has ended")
	}
	wait()
	var times []time.Duration
	for b.Loop() {
		changed := slices.Concat(text[:at], fmt.Appendf(nil, "connect_timeout: 1.%ds", 1+len(times)), text[at+len(value):])
		if err := os.WriteFile(file+".new", changed, 0o600); err != nil {
			b.Fatal(err)
		}
		saved := time.Now()
		if err := os.Rename(file+".new", file); err != nil {
			b.Fatal(err)
		}
		wait()
		times = append(times, time.Since(saved))
	}
	if err := command.Process.Kill(); err != nil {
		b.Fatal(err)
	}
	_ = command.Wait() // it was killed
	slices.Sort(times)
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(ms(times[len(times)/2]), "median-ms")
}
