package check

import (
	"regexp"
	"strings"
	"sync"
)

// url is a host name with a scheme, a path or a port.
var url = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:[a-z][a-z0-9+.-]*://)?([A-Za-z0-9_][A-Za-z0-9_.-]*)(?::[0-9]+)?(?:/.*)?$`)
})

// HostIn returns the host name in a text that is not one itself: a URL, or a name with a port. It is empty for a host name, and for anything else.
func HostIn(text string) string {
	if !strings.ContainsAny(text, ":/") {
		return ""
	}
	found := url().FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	return found[1]
}
