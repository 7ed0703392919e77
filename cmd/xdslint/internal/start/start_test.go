package start

import (
	"runtime/debug"
	"testing"
)

func TestPercent(t *testing.T) {
	const mb = 1 << 20
	for _, test := range []struct {
		inUse, expected uint64
		goal            uint64 // the heap at the next collection
	}{
		{0, 0, 16 * mb}, // a small file
		{3 * mb, 0, 16 * mb},
		{20 * mb, 0, 90 * mb}, // 64 MB, and 30 % of what is in use
		{200 * mb, 0, 324 * mb},
		{0, 256 * mb, 256 * mb}, // before a large file is read
		{3 * mb, 256 * mb, 256 * mb},
		{100 * mb, 256 * mb, 256 * mb},
		{200 * mb, 256 * mb, 324 * mb},
		{300 * mb, 256 * mb, 454 * mb},
	} {
		percent := uint64(percent(test.inUse, test.expected))
		goal := max(test.inUse, smallest) + percent*max(test.inUse, smallest)/100
		if off := max(goal, test.goal) - min(goal, test.goal); off > smallest {
			t.Errorf("%d in use, %d expected: a goal of %d, want %d", test.inUse, test.expected, goal, test.goal)
		}
	}
}

// TestBack: the collector runs again once the heap has its memory.
func TestBack(t *testing.T) {
	before := debug.SetGCPercent(-1)
	defer debug.SetGCPercent(before)
	back(1 << 20)
	if now := debug.SetGCPercent(-1); now <= 0 {
		t.Errorf("GOGC is %d", now)
	}
}
