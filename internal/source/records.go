package source

import (
	"bytes"
	"iter"
)

// Records returns the lines of JSON Lines from an offset on: the complete ones, without comments, which begin with #, and
// without space and a byte order mark around them.
func (f *File) Records(at int) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for at < len(f.Text) {
			n := bytes.IndexByte(f.Text[at:], '\n')
			if n < 0 {
				return
			}
			line := bytes.TrimLeft(bytes.TrimPrefix(f.Text[at:at+n], []byte("\ufeff")), " \t\r")
			start := at + n - len(line)
			line = bytes.TrimRight(line, " \t\r")
			at += n + 1
			if len(line) > 0 && line[0] != '#' && !yield(Span{start, start + len(line)}) {
				return
			}
		}
	}
}
