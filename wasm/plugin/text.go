package plugin

import (
	"fmt"
	"strconv"
)

// Limits in bytes: of a name, and of a rule's explanation in Markdown.
const (
	maxName = 1_000
	maxWhy  = 80_000
)

// quoted shows a text of a plugin in a message about it.
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
