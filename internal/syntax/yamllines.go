package syntax

import (
	"bytes"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/source"
)

// yamlLines finds the places that the YAML library reports. The library treats more characters as line breaks than editors do, and counts columns after a
// byte order mark.
type yamlLines struct {
	file   *source.File
	begins []int32 // of each line, where the file's own lines are others
}

var byteOrderMark = []byte("\ufeff")

func linesOf(file *source.File) *yamlLines {
	l := &yamlLines{file: file}
	text := file.Text
	marked := bytes.HasPrefix(text, byteOrderMark)
	if !marked && !bytes.ContainsAny(text, "\r\u0085\u2028\u2029") {
		return l
	}
	l.begins = []int32{0}
	if marked {
		l.begins[0] = int32(len(byteOrderMark))
	}
	for at := 0; ; {
		n := afterBreak(text[at:])
		if n < 0 {
			return l
		}
		at += n
		l.begins = append(l.begins, int32(at))
	}
}

// afterBreak returns the offset behind the first line break of a text, or -1 if there is none.
func afterBreak(text []byte) int {
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return i + 1
		case c == '\r' && i+1 < len(text) && text[i+1] == '\n':
			return i + 2
		case c == '\r':
			return i + 1
		case c >= 0xC2:
			if r, size := utf8.DecodeRune(text[i:]); r == '\u0085' || r == '\u2028' || r == '\u2029' {
				return i + size
			}
		}
	}
	return -1
}

// offset is that of a line and a column, both from 1, in runes.
func (l *yamlLines) offset(line, column int) int {
	if l.begins == nil {
		return l.file.Offset(line, column)
	}
	if line > len(l.begins) {
		return len(l.file.Text)
	}
	return source.Forward(l.file, int(l.begins[max(line, 1)-1]), column-1)
}
