//go:build !linux

package start

// populate does nothing: each page gets memory when it is used.
func populate([]byte) {}
