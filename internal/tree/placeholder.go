package tree

import (
	"regexp"
	"strings"
	"sync"
)

// placeholder matches the marks of templates in a value: ${NAME} and {{ NAME }} anywhere, and where a value begins, $name
// of a shell and @NAME@ of autoconf.
var placeholder = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[A-Za-z_]|\{\{|^\$[A-Za-z_]\w*\b|^@[A-Za-z_]\w*@`)
})

// IsPlaceholder reports whether a value looks like one that a template still has to fill in.
func IsPlaceholder(value string) bool {
	return strings.ContainsAny(value, "${@") && placeholder().MatchString(value)
}
