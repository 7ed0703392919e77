// Package ascii compares as Envoy does where case makes no difference.
package ascii

import "strings"

// Lower is absl::AsciiStrToLower: it changes only ASCII letters.
func Lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
