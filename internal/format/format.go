// Package format models Envoy's substitution format strings, such as "%REQ(:path)% %RESPONSE_CODE%": which of them Envoy rejects.
package format

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/xdslint/xdslint/dataplane"
)

// commandPattern is commandWithArgsRegex of source/common/formatter/substitution_formatter.cc.
var commandPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^%([A-Z0-9_]+)(?:\((.*?)\))?(?::([0-9]+))?%`) })

// Error is what Envoy rejects in a format.
type Error struct {
	Command  string // the name of the command, or "" if there is none at the percent sign
	What     string // what is wrong, with the command as the subject; empty if there is no command
	Unknown  bool   // the target does not have the command
	Since    string // the version that has it first, if a later one does
	Upstream string
}

// Extensions are the commands that a place adds to the built-in ones.
type Extensions struct {
	Commands []string
	Others   bool // commands that are not known here
}

// Check returns the first error in a format (SubstitutionFormatParser::parse).
func Check(t dataplane.Target, text string, added Extensions) (e Error, is bool) {
	for at := 0; at < len(text); {
		switch {
		case text[at] != '%':
			at++
			continue
		case strings.HasPrefix(text[at:], "%%"):
			at += 2
			continue
		}
		found := commandPattern().FindStringSubmatch(text[at:])
		if found == nil || tooLong(found[3]) {
			return Error{Upstream: fmt.Sprintf("Incorrect configuration: %s. Couldn't find valid command at position %d", text, at)}, true
		}
		if e, is := checkCommand(t, call{found[1], found[2], found[3]}, added); is {
			return e, true
		}
		at += len(found[0])
	}
	return Error{}, false
}

// tooLong reports whether a length does not fit into a size_t.
func tooLong(length string) bool {
	_, err := strconv.ParseUint(length, 10, 64)
	return length != "" && err != nil
}

// call is one use of a command.
type call struct{ name, arguments, length string }

func checkCommand(t dataplane.Target, c call, added Extensions) (e Error, is bool) {
	if slices.Contains(added.Commands, c.name) {
		return Error{}, false
	}
	known, ok := lookup()[c.name]
	if !ok || t.Before(known.since) {
		return Error{Command: c.name, Unknown: true, Since: known.since, Upstream: "Not supported field in StreamInfo: " + c.name}, !added.Others
	}
	what, upstream := known.syntax(t).check(c)
	switch {
	case what != "":
	case c.name == "COALESCE": // it looks up other commands, so it cannot be in their table
		what, upstream = coalesce(t, c.arguments)
	case known.wrong != nil:
		what, upstream = known.wrong(t, c.arguments)
	}
	return Error{Command: c.name, What: what, Upstream: upstream}, what != ""
}

// syntax says what a command may be followed by (CommandSyntaxChecker).
type syntax struct{ arguments, required, length bool }

func (s syntax) check(c call) (what, upstream string) {
	switch {
	case !s.arguments && !s.length && (c.arguments != "" || c.length != ""):
		return "takes neither arguments nor a length", c.name + " does not take any parameters or length"
	case s.required && c.arguments == "":
		return "needs an argument", c.name + " requires parameters"
	case !s.length && c.length != "":
		return "does not take a length", c.name + " does not allow length to be specified."
	}
	return "", ""
}
