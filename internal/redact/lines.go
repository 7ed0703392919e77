package redact

import (
	"bytes"
	"strings"

	"github.com/xdslint/xdslint/internal/source"
)

// assigned notes what stands behind such a key in a line.
func (r *redactor) assigned(offset int, line []byte) {
	m := assignment().FindSubmatchIndex(bytes.TrimRight(line, " \t\r\n"))
	if m == nil {
		return
	}
	span := source.Span{Start: offset + m[4], End: offset + m[5]}
	if !isValue(line[m[4]:m[5]]) {
		return
	}
	r.edits = append(r.edits, edit{span, quoted(Redaction), string(line[m[2]:m[3]])})
}

// assigns reports whether a secret seems to stand behind a key in a line.
func assigns(line []byte) bool {
	m := assignment().FindSubmatch(bytes.TrimRight(line, " \t\r\n"))
	return m != nil && isValue(m[2])
}

func isValue(text []byte) bool {
	value := strings.Trim(string(text), `"',`)
	return !opens(value) && !isRedaction(value)
}

// opens tells what is no value but begins one: a map, a list, a block.
func opens(value string) bool {
	return strings.Trim(value, "{[|>+-&0123456789 ") == "" || strings.HasPrefix(value, "{ }") || strings.HasPrefix(value, "#")
}

// lines redacts by keys what cannot be read, line by line. What is deeper than a key with a block belongs to it; the margin is what may stand before a
// key.
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
			if m := assignment().FindSubmatch(bytes.TrimRight(line, " \t\r\n")); m != nil && strings.ContainsAny(string(m[2][:1]), "|>") {
				block = depth
			}
			r.assigned(offset, line)
		}
		offset += len(line)
	}
}
