package check

import "strings"

// RegexHelp is for an expression that RE2 does not know.
func RegexHelp(upstream string) string {
	if strings.Contains(upstream, "(?=") || strings.Contains(upstream, "(?!") || strings.Contains(upstream, "(?<") {
		return "RE2 has no look-around: match what is wanted, or put a route before this one that takes what is not"
	}
	return "see https://github.com/google/re2/wiki/Syntax"
}
