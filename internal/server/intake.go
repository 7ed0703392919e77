package server

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/lint"
)

// maxParts is the maximum number of parts in a multipart body. Each part costs memory, however small it is.
const maxParts = 10_000

// maxName is the maximum length of a file name, in bytes. Every finding repeats it.
const maxName = 1000

// names maps media types to file names, for a body without a name. The extension selects the encoding. Without an extension, the content does.
var names = map[string]string{
	"":                                  "body",
	"application/octet-stream":          "body",
	"application/x-www-form-urlencoded": "body", // the default of curl --data-binary
	"text/plain":                        "body",
	"application/json":                  "body.json",
	"text/json":                         "body.json",
	"application/yaml":                  "body.yaml",
	"application/x-yaml":                "body.yaml",
	"text/yaml":                         "body.yaml",
	"text/x-yaml":                       "body.yaml",
	"application/protobuf":              "body.pb",
	"application/x-protobuf":            "body.pb",
	"application/vnd.google.protobuf":   "body.pb",
}

const formData = "multipart/form-data"

// mediaType reads the Content-Type, which may be absent.
func mediaType(r *http.Request) (string, map[string]string, error) {
	text := r.Header.Get("Content-Type")
	if text == "" {
		return "", nil, nil
	}
	kind, params, err := mime.ParseMediaType(text)
	if err != nil {
		return "", nil, newProblem(http.StatusUnsupportedMediaType, "invalid Content-Type")
	}
	return kind, params, nil
}

// query reads the parameters of a request, and rejects unknown ones.
func query(r *http.Request, known ...string) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, newProblem(http.StatusBadRequest, "invalid query")
	}
	for name := range values {
		if slices.Contains(known, name) {
			continue
		}
		if near := lint.Nearest(name, known); near != "" {
			return nil, newProblem(http.StatusBadRequest, "the query has an unknown parameter (did you mean %s?)", near)
		}
		return nil, newProblem(http.StatusBadRequest, "the query has an unknown parameter: known are %s", strings.Join(known, ", "))
	}
	return values, nil
}

// body is the unread rest of a request's body.
type body struct {
	*exchange
	from    io.Reader
	charged bool // bytes read now are charged here, because no other code does
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	b.exchange.read += int64(n)
	if b.charged {
		if full := b.held.take(int64(n)); full != nil {
			return n, full
		}
	}
	return n, err
}

// open starts reading the body.
func (s *Server) open(x *exchange) (*body, error) {
	for _, coding := range x.request.Header.Values("Content-Encoding") {
		if coding != "" && !strings.EqualFold(coding, "identity") {
			return nil, newProblem(http.StatusUnsupportedMediaType, "compressed bodies are not supported").with("Accept-Encoding", "identity")
		}
	}
	if x.request.ContentLength > s.options.MaxBody {
		return nil, s.tooLarge()
	}
	if full := x.held.take(headerSize(x.request)); full != nil { // a connection can have a hundred requests
		return nil, full
	}
	// With the server's writer, a client that continues to send is disconnected.
	return &body{exchange: x, from: http.MaxBytesReader(x.ResponseWriter, x.request.Body, s.options.MaxBody)}, nil
}

// headerSize is about what a request takes in memory without its body, in bytes.
func headerSize(r *http.Request) int64 {
	const least = 4 << 10
	size := least + len(r.RequestURI)
	for name, values := range r.Header {
		for _, value := range values {
			size += len(name) + len(value) + 100
		}
	}
	return int64(size)
}

func (s *Server) tooLarge() error {
	return newProblem(http.StatusRequestEntityTooLarge, "the body is larger than %d bytes (--max-body)", s.options.MaxBody)
}

// unread returns the problem of a body that could not be read to its end.
func (s *Server) unread(err error, otherwise string) error {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return s.tooLarge()
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return newProblem(http.StatusRequestTimeout, "the body did not arrive within %s", s.options.Timeout)
	}
	return newProblem(http.StatusBadRequest, otherwise)
}

// whole reads a body that is a single text.
func (s *Server) whole(x *exchange) ([]byte, error) {
	b, err := s.open(x)
	if err != nil {
		return nil, err
	}
	text, err := x.held.readAll(b, x.request.ContentLength, s.options.MaxBody)
	if err != nil {
		return nil, s.unread(err, "the body is incomplete")
	}
	s.metrics.received.Observe(float64(x.read))
	if len(text) == 0 {
		return nil, newProblem(http.StatusBadRequest, "the body is empty")
	}
	return text, nil
}

// part is a part of a multipart body.
type part struct {
	field string // of the form
	file  string // its name at the client; may be empty
	text  []byte
}

const malformed = "the multipart body is malformed or incomplete"

// parts reads a multipart body.
func (s *Server) parts(x *exchange, boundary string) ([]part, error) {
	b, err := s.open(x)
	if err != nil {
		return nil, err
	}
	if boundary == "" {
		return nil, newProblem(http.StatusBadRequest, "the Content-Type has no boundary")
	}
	var all []part
	for reader := multipart.NewReader(b, boundary); ; {
		b.charged = true // the header of a part, which can be as large as the body
		next, err := reader.NextPart()
		b.charged = false
		if err == io.EOF {
			break
		}
		if err == nil && len(all) == maxParts {
			err = newProblem(http.StatusRequestEntityTooLarge, "the body has more than %d parts", maxParts)
		}
		if err != nil {
			return nil, s.unread(err, malformed)
		}
		text, err := x.held.readAll(next, -1, s.options.MaxBody)
		if err != nil {
			return nil, s.unread(err, malformed)
		}
		all = append(all, part{next.FormName(), fileName(next), text})
	}
	s.metrics.received.Observe(float64(x.read))
	if len(all) == 0 {
		return nil, newProblem(http.StatusBadRequest, "the multipart body has no parts")
	}
	return all, nil
}

// fileName returns the file name of a part with its folders. Part.FileName removes them, but files may differ only in folders.
func fileName(p *multipart.Part) string {
	_, params, err := mime.ParseMediaType(p.Header.Get("Content-Disposition"))
	if err != nil || params["filename"] == "" {
		return ""
	}
	return path.Clean(params["filename"])
}

// add stores a text under its name, and rejects duplicates.
func add(texts map[string][]byte, name string, text []byte) error {
	if len(name) > maxName {
		return newProblem(http.StatusBadRequest, "a file name is longer than %d bytes", maxName)
	}
	if _, twice := texts[name]; twice {
		return newProblem(http.StatusBadRequest, "two parts have the same file name")
	}
	texts[name] = text
	return nil
}

// given reads the texts to lint: one, or several by their names.
func (s *Server) given(x *exchange, name string) (map[string][]byte, error) {
	kind, params, err := mediaType(x.request)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	if kind != formData {
		usual, ok := names[kind]
		if !ok {
			return nil, newProblem(http.StatusUnsupportedMediaType, "unsupported Content-Type: send YAML, JSON, protobuf or multipart/form-data")
		}
		if name == "" {
			name = usual
		}
		text, err := s.whole(x)
		if err != nil {
			return nil, err
		}
		return texts, add(texts, name, text)
	}
	if name != "" {
		return nil, newProblem(http.StatusBadRequest, "filename is not allowed with multipart/form-data: each part has its own name")
	}
	parts, err := s.parts(x, params["boundary"])
	if err != nil {
		return nil, err
	}
	for _, p := range parts {
		name := cmp.Or(p.file, p.field)
		if name == "" {
			return nil, newProblem(http.StatusBadRequest, "a part has neither a file name nor a name")
		}
		if err := add(texts, name, p.text); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// sides reads the texts to compare.
func (s *Server) sides(x *exchange) (before, after map[string][]byte, err error) {
	kind, params, err := mediaType(x.request)
	if err != nil {
		return nil, nil, err
	}
	if kind != formData {
		return nil, nil, newProblem(http.StatusUnsupportedMediaType, "a plan needs a multipart/form-data body with parts named old and new")
	}
	parts, err := s.parts(x, params["boundary"])
	if err != nil {
		return nil, nil, err
	}
	sides := map[string]map[string][]byte{"old": {}, "new": {}}
	for _, p := range parts {
		side := sides[p.field]
		if side == nil {
			return nil, nil, newProblem(http.StatusBadRequest, "each part must be named old or new")
		}
		// Findings point into both sides.
		name := p.file
		if !path.IsAbs(name) {
			name = path.Join(p.field, path.Join("/", name)) // stays within its side despite any ".."
		}
		if err := add(side, name, p.text); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range []string{"old", "new"} {
		if len(sides[name]) == 0 {
			return nil, nil, newProblem(http.StatusBadRequest, "no part is named %s", name)
		}
	}
	return sides["old"], sides["new"], nil
}
