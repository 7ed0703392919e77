package redact

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/xdslint/xdslint/graph/source"
)

// assignment is a key that secrets stand under, and what is behind it in its line.
var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)([\w.-]*(?:password|passwd|secret|token|private[_-]?key|access[_-]?key|api[_-]?key|inline_?string|inline_?bytes|pkcs12|` +
		`authorization|cookie|jwks))["']?\s*[:=]\s*(\S.*)`)
})

// assigned notes what stands behind such a key in a line.
func (r *redactor) assigned(offset int, line []byte) {
	m := assignment().FindSubmatchIndex(bytes.TrimRight(line, " \t\r\n"))
	if m == nil {
		return
	}
	span := source.Span{Start: offset + m[4], End: offset + m[5]}
	if value := strings.Trim(string(line[m[4]:m[5]]), `"',`); opens(value) || value == Redaction || value == encodedRedaction {
		return
	}
	r.edits = append(r.edits, edit{span, quoted(Redaction), string(line[m[2]:m[3]])})
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
