//go:build gen

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// repeat calls do in several goroutines until the duration is over; who has begun then may end. A status that is not 0 and not 200 is
// counted and not measured.
func repeat(ctx context.Context, atOnce int, duration time.Duration, do func(context.Context) (status int, err error)) (*measured, error) {
	m := &measured{statuses: map[int]int{}}
	var mu sync.Mutex
	var first error
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	began := time.Now()
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for time.Since(began) < duration && ctx.Err() == nil {
				start := time.Now()
				status, err := do(ctx)
				took := time.Since(start)
				mu.Lock()
				if err != nil && first == nil {
					first = err
					cancel()
				}
				if status != 0 {
					m.statuses[status]++
				}
				if status == 0 || status == http.StatusOK {
					m.took = append(m.took, took)
				}
				mu.Unlock()
				if status == http.StatusTooManyRequests {
					time.Sleep(time.Second) // as Retry-After says
				}
			}
		})
	}
	workers.Wait()
	m.wall = time.Since(began)
	return m, first
}

// loaded is the result of a load test of a server, and the memory that the server used.
type loaded struct {
	*measured
	first, last, peak int // MB
}

func (l *loaded) String() string {
	return fmt.Sprintf("%s | %d MB | %d MB | %d MB", l.measured, l.first, l.last, l.peak)
}

// serve starts a server and sends it a file from many clients.
func serve(ctx context.Context, xdslint, file string, clients int, duration time.Duration) (*loaded, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, xdslint, "serve", "--no-config", "--listen", "localhost:0")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s serve does not say where: %w", xdslint, err)
	}
	url := strings.TrimSpace(strings.TrimPrefix(line, "serving ")) + "/v1/lint"
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}

	memory := watch(cmd.Process.Pid)
	var sent atomic.Int64
	m, err := repeat(ctx, clients, duration, func(ctx context.Context) (int, error) {
		own := fmt.Sprintf("%s?filename=%d.json", url, sent.Add(1)) // the server does not check equal texts again
		return post(ctx, client, own, text)
	})
	first, last, watchErr := memory()
	if err == nil {
		err = watchErr
	}
	if err != nil {
		return nil, err
	}
	for status := range m.statuses {
		if status != http.StatusOK && status != http.StatusTooManyRequests {
			return nil, fmt.Errorf("answers were %s", m.answers())
		}
	}
	peak, err := memoryOf(cmd.Process.Pid, "VmHWM:")
	if err != nil {
		return nil, err
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return nil, err
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s serve, stopped: %w", xdslint, err)
	}
	return &loaded{m, first, last, peak}, nil
}

func post(ctx context.Context, client *http.Client, url string, text []byte) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(text))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// watch looks at a process's memory until the function that it returns is called: that gives the means of the first and the last quarter
// of the time, in MB.
func watch(pid int) func() (first, last int, err error) {
	var seen []int
	var failed error
	quit := make(chan struct{})
	var done sync.WaitGroup
	done.Go(func() {
		every := time.NewTicker(100 * time.Millisecond)
		defer every.Stop()
		for {
			select {
			case <-quit:
				return
			case <-every.C:
				now, err := memoryOf(pid, "VmRSS:")
				if err != nil {
					failed = err
					return
				}
				seen = append(seen, now)
			}
		}
	})
	return func() (int, int, error) {
		close(quit)
		done.Wait()
		quarter := max(len(seen)/4, 1)
		if failed != nil || len(seen) == 0 {
			return 0, 0, fmt.Errorf("its memory was not seen: %w", failed)
		}
		return mean(seen[:quarter]), mean(seen[len(seen)-quarter:]), nil
	}
}

func mean(all []int) int {
	sum := 0
	for _, n := range all {
		sum += n
	}
	return sum / len(all)
}

// memoryOf reads a line of /proc/PID/status, in MB.
func memoryOf(pid int, name string) (int, error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(raw), name)
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0, fmt.Errorf("/proc/%d/status has no %s", pid, name)
	}
	kilobytes, err := strconv.Atoi(fields[0])
	return kilobytes / 1000, err
}
