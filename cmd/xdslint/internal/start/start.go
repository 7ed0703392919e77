// Package start keeps the garbage collector out of the way. Registering Envoy's types alone would start it twice, a fifth of
// the time that a small file takes, and on a large one it would take as long as the work itself. With 400 the heap may grow
// to five times what is in use, which stays well below what Envoy needs for the same file. The package imports next to
// nothing, so that Go initialises it before those types.
package start

import (
	"os"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
