package redact

import (
	"bytes"
	"strings"

	"github.com/xdslint/xdslint/internal/source"
)

// assigned redacts the value behind a key for secrets in a line.
func (r *redactor) assigned(offset int, a *assignment) {
	if a == nil || !isValue(a.value) {
		return
	}
	start := offset + a.at
	r.edits = append(r.edits, edit{source.Span{Start: start, End: start + len(a.value)}, quoted(Redaction), string(a.key)})
}

// assignment is a key for secrets in a line, and the rest of the line behind it.
type assignment struct {
	key, value []byte
	at         int // where the value begins
}

// assignmentIn finds the first key for secrets that has a value in the line; nil if there is none. A line can be a whole file.
func assignmentIn(line []byte) *assignment {
	line = bytes.TrimRight(line, " \t\r\n")
	for at := 0; ; {
		i := bytes.IndexAny(line[at:], ":=")
		if i < 0 {
			return nil
		}
		key := bytes.TrimRight(line[:at+i], " \t\f\r")
		at += i + 1
		if n := len(key); n > 0 && (key[n-1] == '"' || key[n-1] == '\'') {
			key = key[:n-1]
		}
		value := bytes.TrimLeft(line[at:], " \t\f\r")
		if len(value) > 0 && (endsInWord(key) || endsIn(key, textKeys)) {
			return &assignment{key[bytes.LastIndexFunc(key, outsideKey)+1:], value, len(line) - len(value)}
		}
	}
}

// outsideKey reports whether a character is not part of a key.
func outsideKey(c rune) bool {
	return c != '_' && c != '.' && c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
}

// assigns reports whether a line seems to have a secret behind a key.
func assigns(line []byte) bool {
	a := assignmentIn(line)
	return a != nil && isValue(a.value)
}

func isValue(text []byte) bool {
	value := strings.Trim(string(text), `"',`)
	return !opens(value) && !isRedaction(value)
}

// opens reports whether a text is not a value but begins one: a map, a list, a block.
func opens(value string) bool {
	return strings.Trim(value, "{[|>+-&0123456789 ") == "" || strings.HasPrefix(value, "{ }") || strings.HasPrefix(value, "#")
}

// lines redacts a text that cannot be parsed, line by line, by its keys. Lines that are deeper than a key with a block belong to the block. margin has
// the characters that may precede a key.
func (r *redactor) lines(at source.Span, margin string) {
	offset, block := at.Start, -1 // the depth of the key
	for line := range bytes.Lines(r.text[at.Start:at.End]) {
		body := bytes.TrimLeft(line, margin)
		depth := len(line) - len(body)
		switch {
		case len(bytes.TrimSpace(body)) == 0:
		case block >= 0 && depth > block:
			end := offset + len(bytes.TrimRight(line, " \t\r\n"))
			r.edits = append(r.edits, edit{source.Span{Start: offset + depth, End: end}, Redaction, "a block under a key for secrets"})
		default:
			block = -1
			a := assignmentIn(line)
			if a != nil && strings.IndexByte("|>", a.value[0]) >= 0 {
				block = depth
			}
			r.assigned(offset, a)
		}
		offset += len(line)
	}
}
