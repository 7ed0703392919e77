//go:build unix

package source

import (
	"runtime"
	"strings"
	"testing"
)

// TestEndlessFile: reading a file that does not end takes no more memory than the largest file that is read.
func TestEndlessFile(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := ReadFile("/dev/zero"); err == nil || !strings.Contains(err.Error(), "/dev/zero: the file is too large") {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > MaxSize*5/4 {
		t.Errorf("it takes %d MiB", taken>>20)
	}
}
