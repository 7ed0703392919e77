//go:build !wasm

package source

import "syscall"

const nonblock = syscall.O_NONBLOCK
