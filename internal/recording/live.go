package recording

import (
	"bytes"
	"context"

	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/source"
)

// Live is a recording in memory, each event of which is judged when it is written.
type Live struct {
	file    *source.File
	reader  reader
	checker *protocol.Checker
}

// NewLive returns an empty recording. The name is that of its file in findings.
func NewLive(name string, c *protocol.Checker) *Live {
	return &Live{&source.File{Name: name}, newReader(), c}
}

// Write appends one line, and judges its event.
func (l *Live) Write(text []byte) (int, error) {
	at := len(l.file.Text)
	l.file.Text = append(l.file.Text, text...)
	if at == 0 {
		return len(text), nil // the head
	}
	return len(text), l.reader.read(context.Background(), l.file, at, l.checker.Feed)
}

// Truncate ends the recording before a line that was not written.
func (l *Live) Truncate(size int64) error {
	l.file.Text = l.file.Text[:size]
	return nil
}

// Close implements io.Closer.
func (*Live) Close() error { return nil }

// Text returns the line of a recording at a place.
func Text(at protocol.At) []byte {
	return bytes.TrimSpace(at.File.Text[at.Span.Start:at.Span.End])
}
