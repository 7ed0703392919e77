package plugin

import (
	"fmt"
	"strconv"
)

// maxName is the length of a name that is worth looking at, in bytes, and maxWhy of what a rule says of itself in Markdown.
const (
	maxName = 1_000
	maxWhy  = 80_000
)

// quoted shows something of a plugin in a message about it.
func quoted(s string) string {
	const shown = 80 // bytes: what is quoted may be megabytes
	if len(s) > shown {
		return strconv.Quote(s[:shown]) + " …"
	}
	return strconv.Quote(s)
}

// size spells a number of bytes.
func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MiB", (n+1<<20-1)>>20)
}
