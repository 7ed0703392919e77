package recorder

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/xdslint/xdslint/internal/history"
	"github.com/xdslint/xdslint/internal/protocol"
	"github.com/xdslint/xdslint/internal/recording"
	"github.com/xdslint/xdslint/internal/redact"
)

// PartSize is the size from which a part is followed by another one.
const PartSize = 64 << 20

// Writer writes a recording, in parts of a size. It is safe for concurrent use.
type Writer struct {
	Now  func() time.Time // nil: time.Now
	path string
	size int64

	mu      sync.Mutex
	head    history.Header
	file    output
	written int64 // to the part
	streams int
	err     error // of the first write that failed; nothing is written after it
	failed  chan struct{}
}

// Create begins a recording. The first part has the path; the name of each later one has its number before the
// extension. No file is replaced.
func Create(path string, size int64) (*Writer, error) {
	w := &Writer{path: path, size: size, head: history.Header{Version: history.Version, ID: rand.Text()}, failed: make(chan struct{})}
	if _, err := os.Lstat(w.part(2)); err == nil { // it would end the recording later
		return nil, &os.PathError{Op: "record", Path: w.part(2), Err: os.ErrExist}
	}
	return w, w.next()
}

// part returns the path of a part.
func (w *Writer) part(number int) string {
	if number == 1 {
		return w.path
	}
	ext := filepath.Ext(w.path)
	return fmt.Sprintf("%s.%d%s", strings.TrimSuffix(w.path, ext), number, ext)
}

// Live begins a recording in memory, each event of which is judged at once. The name is that of its file in findings.
func Live(name string, c *protocol.Checker) *Writer {
	w := &Writer{
		size: math.MaxInt64, head: history.Header{Version: history.Version, ID: rand.Text(), Part: 1}, failed: make(chan struct{}),
		file: recording.NewLive(name, c),
	}
	w.err = w.put(encoded(recording.Line{Recording: &w.head}))
	return w
}

// output is where a part is written.
type output interface {
	io.WriteCloser
	Truncate(size int64) error
}

// next begins a part.
func (w *Writer) next() error {
	w.head.Part++
	f, err := os.OpenFile(w.part(w.head.Part), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if w.file != nil {
		err = w.file.Close()
	}
	w.file, w.written = f, 0
	return cmp.Or(err, w.put(encoded(recording.Line{Recording: &w.head})))
}

// put writes a line with one write. If that fails, the file ends with the line before.
func (w *Writer) put(text []byte) error {
	if _, err := w.file.Write(text); err != nil {
		return errors.Join(err, w.file.Truncate(w.written))
	}
	w.written += int64(len(text))
	return nil
}

// Close ends the recording. It returns the first error of a write.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return errors.Join(w.err, w.file.Close())
}

// Failed returns a channel that is closed when a write has failed. Nothing is recorded after it.
func (w *Writer) Failed() <-chan struct{} { return w.failed }

// lost reports whether a write has failed: what is not recorded must not be passed on.
func (w *Writer) lost() bool {
	select {
	case <-w.failed:
		return true
	default:
		return false
	}
}

// write completes an event and writes it. When it returns, the event is in the file.
func (s *StreamWriter) write(l recording.Line) {
	w := s.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil || s.closed {
		return
	}
	l.Stream, s.closed = s.id, l.Closed != nil
	now := time.Now
	if w.Now != nil {
		now = w.Now
	}
	l.Time = now().UTC()
	if w.written >= w.size {
		w.err = w.next()
	}
	if w.err == nil {
		w.err = w.put(encoded(l))
	}
	if w.err != nil {
		close(w.failed)
	}
}

// encoded returns a line in JSON. The message in it is written last, as it is: the encoder would read it once more.
func encoded(l recording.Line) []byte {
	var out bytes.Buffer
	key, message := "request", l.Request
	if l.Response != nil {
		key, message = "response", l.Response
	}
	l.Request, l.Response = nil, nil
	enc := json.NewEncoder(&out) // ends with a line break
	enc.SetEscapeHTML(false)
	if err := enc.Encode(l); err != nil {
		panic(err) // it is made of texts and numbers
	}
	if message == nil {
		return out.Bytes()
	}
	out.Truncate(out.Len() - len("}\n"))
	out.Grow(len(message) + 16)
	fmt.Fprintf(&out, ",%q:%s}\n", key, message)
	return out.Bytes()
}

// StreamWriter writes the events of one stream, up to its end.
type StreamWriter struct {
	w      *Writer
	id     int
	form   protocol.Opened
	closed bool // by w.mu
}

// Open writes that a stream is opened. It returns nothing for a method that is not xDS.
func (w *Writer) Open(method string) *StreamWriter {
	o, ok := recording.Stream(method)
	if !ok {
		return nil
	}
	w.mu.Lock()
	w.streams++
	s := &StreamWriter{w: w, id: w.streams, form: o}
	w.mu.Unlock()
	s.write(recording.Line{Opened: &recording.Opened{Method: method}})
	return s
}

// Request writes a request, from its bytes.
func (s *StreamWriter) Request(raw []byte) {
	text, err := encodeRequest(raw, s.form)
	s.write(recording.Line{Request: text, Unreadable: reason(err)})
}

// Response writes a response, from its bytes.
func (s *StreamWriter) Response(raw []byte) {
	text, leftOut, err := encodeResponse(raw, s.form)
	s.write(recording.Line{Response: text, LeftOut: leftOut, Unreadable: reason(err)})
}

// Close writes that the stream is closed.
func (s *StreamWriter) Close(code, message string) {
	s.write(recording.Line{Closed: &recording.Closed{Code: code, Message: redact.Error(message)}})
}

func reason(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
