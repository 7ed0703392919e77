package check

import "strings"

// RegexHelp returns the help for an expression that RE2 rejects.
func RegexHelp(upstream string) string {
	if strings.Contains(upstream, "(?=") || strings.Contains(upstream, "(?!") || strings.Contains(upstream, "(?<") {
		return "RE2 does not support look-around: match only the wanted paths, or catch the others with an earlier route"
	}
	return "see https://github.com/google/re2/wiki/Syntax"
}
