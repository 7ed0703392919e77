//go:build unix

// Package cputime measures what code costs, for tests that other programs must not disturb.
package cputime

import (
	"syscall"
	"testing"
	"time"
)

// Of returns how long f occupies processors, which other programs hardly change.
func Of(t testing.TB, f func()) time.Duration {
	t.Helper()
	used := func() time.Duration {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			t.Fatal(err)
		}
		return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	before := used()
	f()
	return used() - before
}
