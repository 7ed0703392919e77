//go:build !wasm

package load

import "syscall"

const nonblock = syscall.O_NONBLOCK
