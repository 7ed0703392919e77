package syntax

import (
	"bytes"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/source"
)

// yamlLines finds the places that the YAML library reports. The library treats more characters as line breaks than editors do, and counts columns after a
// byte order mark.
type yamlLines struct {
	file   *source.File
	begins []int // of each line, where the file's own lines are others
}

var (
	byteOrderMark = []byte("\ufeff")
	yamlBreak     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]") })
)

func linesOf(file *source.File) *yamlLines {
	l := &yamlLines{file: file}
	text := file.Text
	marked := bytes.HasPrefix(text, byteOrderMark)
	if !marked && !bytes.ContainsAny(text, "\r\u0085\u2028\u2029") {
		return l
	}
	l.begins = []int{0}
	if marked {
		l.begins[0] = len(byteOrderMark)
	}
	for _, found := range yamlBreak().FindAllIndex(text, -1) {
		l.begins = append(l.begins, found[1])
	}
	return l
}

// offset is that of a line and a column, both from 1, in runes.
func (l *yamlLines) offset(line, column int) int {
	if l.begins == nil {
		return l.file.Offset(line, column)
	}
	if line > len(l.begins) {
		return len(l.file.Text)
	}
	at := l.begins[max(line, 1)-1]
	for i := 1; i < column && at < len(l.file.Text); i++ {
		_, size := utf8.DecodeRune(l.file.Text[at:])
		at += size
	}
	return at
}
