package syntax

import (
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// maxNesting bounds how deep values of a text may nest, so that reading them cannot exhaust the stack.
const maxNesting = 1000

// ParseJSON reads one JSON value, or several that follow one another. It accepts what protobuf's reader in C++ accepts
// beyond JSON, since Envoy uses that: single quotes, bare words for keys, a comma after the last element, control
// characters in strings (json/internal/lexer.cc). Values before a fault are returned with the error.
func ParseJSON(file *source.File) ([]*tree.Node, error) {
	if !utf8.Valid(file.Text) {
		return nil, invalidUTF8(file.Text)
	}
	if err := tooMany(file.Text, ","); err != nil {
		return nil, err
	}
	r := &jsonReader{text: file.Text}
	var docs []*tree.Node
	for {
		r.space()
		if r.at == len(r.text) {
			return docs, nil
		}
		node := new(tree.Node)
		r.value(node, 0)
		if r.err != nil {
			return docs, r.err
		}
		docs = append(docs, node)
	}
}

type jsonReader struct {
	text []byte
	at   int
	err  *Error
}

func (r *jsonReader) fail(message string) {
	if r.err == nil {
		r.err = &Error{Span: source.Span{Start: r.at, End: min(r.at+1, len(r.text))}, Message: message}
	}
	r.at = len(r.text)
}

func (r *jsonReader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\r', '\n':
			r.at++
		default:
			return
		}
	}
}

// peek skips space and returns the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	r.space()
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

func (r *jsonReader) value(n *tree.Node, depth int) {
	if depth > maxNesting {
		r.fail("values nest more than " + strconv.Itoa(maxNesting) + " deep")
		return
	}
	c := r.peek()
	n.Start = int32(r.at)
	switch {
	case c == '{':
		r.object(n, depth)
	case c == '[':
		r.list(n, depth)
	case c == '"' || c == '\'':
		n.Kind, n.Text = tree.String, r.quoted(c)
	case c == '-' || '0' <= c && c <= '9':
		n.Kind, n.Text = tree.Number, r.number()
	case letter(c):
		r.word(n)
	case r.at == len(r.text):
		r.fail("the text ends where a value is expected")
	default:
		r.fail("expected a value: an object, a list, a string, a number, true, false or null")
	}
	n.End = int32(r.at)
}

func (r *jsonReader) word(n *tree.Node) {
	start := r.at
	switch word := r.bare(); word {
	case "true", "false":
		n.Kind, n.Text = tree.Bool, word
	case "null":
	default:
		r.at = start
		r.fail("the word " + strconv.Quote(word) + " is not a JSON value")
	}
}

func letter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }

func (r *jsonReader) bare() string {
	start := r.at
	for r.at < len(r.text) && (letter(r.text[r.at]) || '0' <= r.text[r.at] && r.text[r.at] <= '9') {
		r.at++
	}
	return string(r.text[start:r.at])
}

func (r *jsonReader) list(n *tree.Node, depth int) {
	n.Kind = tree.List
	r.at++
	for r.err == nil {
		if r.peek() == ']' {
			r.at++
			return
		}
		n.Items = append(n.Items, tree.Node{})
		r.value(&n.Items[len(n.Items)-1], depth+1)
		if !r.next(']') {
			return
		}
	}
}

func (r *jsonReader) object(n *tree.Node, depth int) {
	n.Kind = tree.Map
	r.at++
	for r.err == nil {
		c := r.peek()
		if c == '}' && r.err == nil {
			r.at++
			return
		}
		key := tree.Key{Start: int32(r.at)}
		switch {
		case c == '"' || c == '\'':
			key.Name = r.quoted(c)
		case letter(c):
			key.Name = r.bare()
		default:
			r.fail("expected a key in quotes")
			return
		}
		key.End = int32(r.at)
		if r.peek() != ':' {
			r.fail(`a ":" belongs here, between a key and its value`)
			return
		}
		r.at++
		n.Keys, n.Items = append(n.Keys, key), append(n.Items, tree.Node{})
		r.value(&n.Items[len(n.Items)-1], depth+1)
		if !r.next('}') {
			return
		}
	}
}

// next reads the comma between two elements. It returns false after the closing bracket or a fault.
func (r *jsonReader) next(closing byte) bool {
	if r.err != nil {
		return false
	}
	switch r.peek() {
	case ',':
		r.at++
		return true
	case closing:
		r.at++
		return false
	}
	r.fail(`expected "," or "` + string(closing) + `"`)
	return false
}

func (r *jsonReader) number() string {
	start := r.at
	digits := func() bool {
		first := r.at
		for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
			r.at++
		}
		return r.at > first
	}
	if r.text[r.at] == '-' {
		r.at++
	}
	first := r.at
	good := digits() && (r.text[first] != '0' || r.at == first+1)
	if good && r.at < len(r.text) && r.text[r.at] == '.' {
		r.at++
		good = digits()
	}
	if good && r.at < len(r.text) && (r.text[r.at] == 'e' || r.text[r.at] == 'E') {
		r.at++
		if r.at < len(r.text) && (r.text[r.at] == '+' || r.text[r.at] == '-') {
			r.at++
		}
		good = digits()
	}
	text := string(r.text[start:r.at])
	if !good || r.at < len(r.text) && (letter(r.text[r.at]) || r.text[r.at] == '.') {
		r.at = start
		r.fail("this is not a JSON number")
	}
	return text
}

// quoted reads a string in either kind of quotes.
func (r *jsonReader) quoted(quote byte) string {
	open := r.at
	r.at++
	start := r.at
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case quote:
			r.at++
			return string(r.text[start : r.at-1])
		case '\\':
			return r.escaped(open, start, quote)
		}
		r.at++
	}
	r.at = open
	r.fail("the string that begins here does not end")
	return ""
}

func (r *jsonReader) escaped(open, start int, quote byte) string {
	b := append([]byte(nil), r.text[start:r.at]...)
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch c {
		case quote:
			return string(b)
		case '\\':
			b = r.escape(b)
		default:
			b = append(b, c)
		}
	}
	if r.err == nil {
		r.at = open
		r.fail("the string that begins here does not end")
	}
	return ""
}

// escape reads the characters after a backslash.
func (r *jsonReader) escape(b []byte) []byte {
	if r.at == len(r.text) {
		return b
	}
	c := r.text[r.at]
	r.at++
	switch c {
	case '"', '\'', '\\', '/':
		return append(b, c)
	case 'b':
		return append(b, '\b')
	case 'f':
		return append(b, '\f')
	case 'n':
		return append(b, '\n')
	case 'r':
		return append(b, '\r')
	case 't':
		return append(b, '\t')
	case 'u':
		return r.unicode(b)
	}
	r.at -= 2
	r.fail("this is not an escape sequence of JSON")
	return b
}

func (r *jsonReader) unicode(b []byte) []byte {
	start := r.at - 2
	first, ok := r.hex4()
	if ok && utf16.IsSurrogate(first) {
		second := rune(0)
		if ok = r.at+1 < len(r.text) && r.text[r.at] == '\\' && r.text[r.at+1] == 'u'; ok {
			r.at += 2
			second, ok = r.hex4()
		}
		first = utf16.DecodeRune(first, second)
		ok = ok && first != utf8.RuneError
	}
	if !ok {
		r.at = start
		r.fail(`behind "\u" belong four hexadecimal digits, and two halves of a surrogate pair together`)
		return b
	}
	return utf8.AppendRune(b, first)
}

func (r *jsonReader) hex4() (rune, bool) {
	if r.at+4 > len(r.text) {
		return 0, false
	}
	v, err := strconv.ParseUint(string(r.text[r.at:r.at+4]), 16, 32)
	r.at += 4
	return rune(v), err == nil
}
