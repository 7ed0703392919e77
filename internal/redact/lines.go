package redact

import (
	"bytes"
	"strings"

	"github.com/xdslint/xdslint/internal/source"
)

// assigned redacts the value behind a key for secrets in a line.
func (r *redactor) assigned(offset int, line []byte) {
	m := assignmentIn(line)
	if m == nil {
		return
	}
	span := source.Span{Start: offset + m[4], End: offset + m[5]}
	if !isValue(line[m[4]:m[5]]) {
		return
	}
	r.edits = append(r.edits, edit{span, quoted(Redaction), string(line[m[2]:m[3]])})
}

// assignmentIn finds a key for secrets and the value behind it. The expression is slow, and a line can be a whole file.
func assignmentIn(line []byte) []int {
	if !bytes.ContainsAny(line, ":=") {
		return nil
	}
	return assignment().FindSubmatchIndex(bytes.TrimRight(line, " \t\r\n"))
}

// assigns reports whether a line seems to have a secret behind a key.
func assigns(line []byte) bool {
	m := assignmentIn(line)
	return m != nil && isValue(line[m[4]:m[5]])
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
			if m := assignmentIn(line); m != nil && strings.IndexByte("|>", line[m[4]]) >= 0 {
				block = depth
			}
			r.assigned(offset, line)
		}
		offset += len(line)
	}
}
