package syntax

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/internal/source"
)

// maxReread bounds how often a text is read again: to some megabytes in all, but a few times in any case.
const maxReread = 4 << 20

// blanked is a text without what the YAML library rejects and Envoy's reader (yaml-cpp) accepts: there are spaces instead, in a
// copy for the library. All offsets stay what they are.
type blanked struct {
	file   *source.File
	text   []byte // for the library
	lines  *yamlLines
	joined map[int]bool // where the values begin that are now in the line of their key
	tab    error        // about the first tab that was removed
	unseen map[int]bool // those of them that are not values for the library, after load
}

func newBlanked(file *source.File) *blanked {
	return &blanked{file: file, text: asVersion11(file.Text), lines: linesOf(file), joined: map[int]bool{}}
}

func (b *blanked) syntaxError(err error) error {
	var fault *yaml.LoadError
	if !errors.As(err, &fault) {
		return err
	}
	at := b.lines.offset(fault.Mark.Line, fault.Mark.Column)
	return &Error{Span: source.Span{Start: at, End: at}, Message: fault.Message}
}

// blank removes what the library rejects. It reports false if Envoy is not known to accept that.
func (b *blanked) blank(fault *yaml.LoadError) bool {
	at := b.lines.offset(fault.Mark.Line, fault.Mark.Column)
	switch fault.Message {
	case "found a comment without preceding whitespace":
		return b.without(at, at+len(firstLine(b.text[at:])))
	case "found a tab character that violates indentation": // in a block, converter.checkTabs finds it again
		if b.tab == nil {
			b.tab = b.syntaxError(fault)
		}
		return b.without(at, at+1)
	case "found character that cannot start any token":
		tabs := blanks(b.text[at:])
		return tabs > 0 && b.join(at+tabs)
	case "could not find expected ':'":
		at = b.lines.offset(fault.ContextMark.Line, fault.ContextMark.Column)
		return unindented(b.text[at:]) && b.join(at)
	case "mapping values are not allowed in this context", "did not find expected <document start>": // below a directive
		return b.directive(b.lineAbove(lineBegin(b.text, at)))
	case "found duplicate %YAML directive": // Envoy rejects it, too
		return false
	}
	return strings.Contains(fault.Message, "directive") && b.directive(lineBegin(b.text, at))
}

// lineAbove returns where the last line before another one begins that is not empty and not a comment.
func (b *blanked) lineAbove(begin int) int {
	for begin > 0 {
		begin = lineBegin(b.text, begin-1)
		if line := bytes.TrimSpace(firstLine(b.text[begin:])); len(line) > 0 && line[0] != '#' {
			break
		}
	}
	return begin
}

// directive removes a directive. Before a document, Envoy ignores unknown ones, and needs no separator behind any; one in a document ends it.
func (b *blanked) directive(begin int) bool {
	line := firstLine(b.text[begin:])
	if len(line) < len(separator) || line[0] != '%' || b.leads(begin) && (!ignored().Match(line) || repeated().Match(b.text[:begin+len(line)])) {
		return false
	}
	next := b.text[begin+len(line):]
	for skipped := firstLine(next); len(next) > 0 && (len(bytes.TrimSpace(skipped)) == 0 || skipped[0] == '#'); skipped = firstLine(next) {
		next = next[min(len(skipped)+1, len(next)):]
	}
	b.without(begin, begin+len(line))
	if len(next) == 0 || next[0] != '%' && !bytes.HasPrefix(next, []byte(separator)) {
		copy(b.text[begin:], separator)
	}
	return true
}

const separator = "---"

// leads reports whether only directives and comments come before a line.
func (b *blanked) leads(begin int) bool {
	for line := range bytes.Lines(b.text[:begin]) {
		if found := bytes.TrimSpace(line); len(found) > 0 && found[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// ignored matches the directives without which a document is the same for Envoy: %YAML of version 1, and those with unknown names. repeated matches a
// second %YAML, which Envoy rejects.
var (
	ignored  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^%(YAML[ \t]+1\.\d+[ \t\r]*$|[^YT])`) })
	repeated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?ms)^%YAML.*^%YAML[^\n]*\z`) })
)

// without puts spaces from start to end.
func (b *blanked) without(start, end int) bool {
	b.text = bytes.Clone(b.text)
	for i := start; i < min(end, len(b.text)); i++ {
		b.text[i] = ' '
	}
	b.lines = linesOf(&source.File{Text: b.text})
	return start < end
}

// join puts a value into the line of its key. It is in a later line, at least in the column of the key.
func (b *blanked) join(value int) bool {
	begin := lineBegin(b.text, value)
	if len(bytes.TrimLeft(b.text[begin:value], " \t")) > 0 {
		return false
	}
	for start := begin; start > 0; {
		end := start - 1
		start = lineBegin(b.text, end)
		line := b.text[start:end]
		if skipped := bytes.TrimSpace(line); len(skipped) == 0 || skipped[0] == '#' {
			continue
		}
		colon := keyLine().FindIndex(line)
		if colon == nil || value-begin < keyColumn(line) {
			return false
		}
		b.joined[value] = true
		return b.without(start+colon[0]+1, value)
	}
	return false
}

var keyLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`:[ \t\r]*$|:[ \t]+#`) })

// keyColumn returns where the key begins in its line.
func keyColumn(line []byte) int {
	at := blanks(line)
	for at+1 < len(line) && line[at] == '-' && line[at+1] == ' ' {
		at += 1 + blanks(line[at+1:])
	}
	return at
}

// unindented reports whether yaml-cpp takes what a text begins with as a value in the column of its key. It does not if that is
// a plain scalar, a block scalar behind an anchor or tag, or in the last line without a line break: these could be keys.
func unindented(value []byte) bool {
	if !bytes.ContainsAny(value, "\r\n") {
		return false
	}
	for len(value) > 0 && (value[0] == '&' || value[0] == '!') {
		value = value[wordEnd(value):]
		value = value[blanks(value):]
	}
	return len(value) > 0 && bytes.IndexByte([]byte("[{\"'*#\r\n"), value[0]) >= 0
}

func blanks(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t")) }

func lineBegin(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }
