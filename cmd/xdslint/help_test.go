package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// TestHelpWidth: the prose of each command's help fits into a window, like documents (docs/style.md).
func TestHelpWidth(t *testing.T) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		for line := range strings.Lines(cmd.Long) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 120 {
				t.Errorf("%s: a line of %d columns: %s", cmd.CommandPath(), n, line)
			}
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot())
}
