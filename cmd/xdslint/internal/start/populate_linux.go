package start

import "syscall"

const madvPopulateWrite = 23 // since Linux 5.14; an older one rejects it

// populate finds memory for all pages.
func populate(pages []byte) { _ = syscall.Madvise(pages, madvPopulateWrite) }
