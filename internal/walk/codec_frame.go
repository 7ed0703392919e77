package walk

import (
	"slices"
	"strconv"
	"strings"

	"github.com/xdslint/xdslint/internal/ascii"
)

const (
	badCharacters = "http1.invalid_characters"
	badEncoding   = "http1.invalid_transfer_encoding"
	badLength     = "http1.content_length_and_chunked_not_allowed"

	contentLength    = "content-length"
	transferEncoding = "transfer-encoding"

	queryMethod = "QUERY" // needs a content type
)

// All returns the headers that a client sends: with the length of the body, unless they say it already.
func (r *Request) All() []Header {
	said := slices.ContainsFunc(r.Headers, func(h Header) bool {
		name := ascii.Lower(h[0])
		return name == contentLength || name == transferEncoding
	})
	if said || r.BodyBytes == 0 {
		return r.Headers
	}
	return append(slices.Clip(r.Headers), Header{contentLength, strconv.Itoa(r.BodyBytes)})
}

// parse1 follows BalsaFrame, which reads the whole head of HTTP/1 before the codec does. It returns what is wrong.
func (j *journey) parse1() (details string) {
	r, options := j.request, j.manager.message.GetHttpProtocolOptions()
	switch {
	case slices.ContainsFunc(r.texts(), func(text string) bool { return strings.ContainsFunc(text, isControl) }):
		return badCharacters
	case !j.takesMethod(r.Method) && !options.GetAllowCustomMethods(), r.Path != nil && !validURL(*r.Path), !r.saysLength():
		return codecError
	}
	return ""
}

// isControl reports whether a character may not be in the head of HTTP/1.
func isControl(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\r\n", r) || r == 0x7f }

// texts are the parts of the head.
func (r *Request) texts() []string {
	all := []string{r.Method, value(r.Path), value(r.Authority)}
	for _, h := range r.Headers {
		all = append(all, h[0], h[1])
	}
	return all
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// takesMethod reports whether HTTP/1 takes a method without allow_custom_methods.
func (j *journey) takesMethod(name string) bool {
	return methods[name] || name == queryMethod && j.runtime.Guard("envoy.reloadable_features.http1_allow_query_method", true)
}

// saysLength reports whether the length of the body is a number, and said once.
func (r *Request) saysLength() bool {
	count := 0
	for _, h := range r.All() {
		if ascii.Lower(h[0]) != contentLength {
			continue
		}
		text := strings.Trim(h[1], " \t")
		if _, err := strconv.ParseUint(text, 10, 64); err != nil || text[0] == '+' || count > 0 {
			return false
		}
		count++
	}
	return true
}

// transfers follows ConnectionImpl::onHeadersCompleteImpl: the only transfer coding is chunked, and it excludes a length.
func (j *journey) transfers() bool {
	h := j.headers
	encoding, has := h.get(transferEncoding)
	chunked := strings.EqualFold(encoding, "chunked")
	switch {
	case !has:
		return true
	case h.has(contentLength) && !(chunked && j.manager.message.GetHttpProtocolOptions().GetAllowChunkedLength()):
		return j.breaks(false, badLength)
	case !chunked || j.request.Method == "CONNECT":
		return j.refuses(false, 501, badEncoding)
	}
	h.remove(contentLength)
	return true
}
