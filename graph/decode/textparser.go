package decode

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xdslint/xdslint/graph/source"
)

// ParseProtoText reads a message in protobuf's text format. Fields become keys; one that stands there several times becomes
// a list; `[type.googleapis.com/x.y.Z] {…}` becomes a map with an "@type". Words without quotes are plain strings.
func ParseProtoText(file *source.File) ([]*Node, error) {
	if !utf8.Valid(file.Text) {
		return nil, invalidUTF8(file.Text)
	}
	if err := tooMany(file.Text, ":{<,"); err != nil {
		return nil, err
	}
	r := &textReader{jsonReader{text: file.Text}}
	n := &Node{Kind: Map}
	r.skip()
	n.start = int32(r.at)
	r.fields(n, 0, 0)
	n.end = max(n.start, int32(len(bytes.TrimRight(file.Text, " \t\r\n\v\f"))))
	if r.err != nil {
		return nil, r.err
	}
	n.bind()
	return []*Node{n}, nil
}

func (n *Node) bind() {
	n.Bound = true
	for i := range n.Items {
		n.Items[i].bind()
	}
}

type textReader struct{ jsonReader }

// skip skips space and comments.
func (r *textReader) skip() {
	for r.at < len(r.text) {
		switch c := r.text[r.at]; {
		case c == ' ' || '\t' <= c && c <= '\r':
			r.at++
		case c == '#':
			r.at += len(firstLine(r.text[r.at:]))
		default:
			return
		}
	}
}

// next skips space and shows the next byte, 0 at the end.
func (r *textReader) next() byte {
	r.skip()
	if r.at < len(r.text) {
		return r.text[r.at]
	}
	return 0
}

// fields reads fields up to the closing bracket, 0 being the end of the text.
func (r *textReader) fields(n *Node, closing byte, depth int) {
	if depth > maxNesting {
		r.fail("messages nest more than " + strconv.Itoa(maxNesting) + " deep")
	}
	m := &textMessage{Node: n}
	for r.err == nil {
		c := r.next()
		if r.at == len(r.text) {
			if closing != 0 {
				r.fail(`the text ends where a "` + string(closing) + `" belongs`)
			}
			return
		}
		if c == closing {
			r.at++
			return
		}
		r.field(m, depth)
		if c := r.next(); c == ',' || c == ';' {
			r.at++
		}
	}
}

func (r *textReader) field(m *textMessage, depth int) {
	key := Key{start: int32(r.at)}
	var any string
	switch c := r.text[r.at]; {
	case c == '[':
		any = r.bracketed()
		key.Name = "[" + any + "]"
	case letter(c):
		key.Name = r.bare()
	default:
		r.fail("the name of a field belongs here")
		return
	}
	key.end = int32(r.at)
	colon := r.next() == ':'
	if colon {
		r.at++
	}
	value := Node{}
	switch c := r.next(); {
	case c == '{' || c == '<' || c == '[':
		r.value(&value, depth)
	case !colon:
		r.fail(`a ":" or "{" belongs here`)
	default:
		r.value(&value, depth)
	}
	if strings.Contains(any, "/") && value.Kind == Map {
		m.expand(key, any, &value)
		return
	}
	m.add(key, value)
}

// textMessage is a map in the making. With many keys it looks them up in an index.
type textMessage struct {
	*Node
	index map[string]int
}

func (m *textMessage) find(name string) int {
	if len(m.Keys) < 32 {
		return m.entry(name)
	}
	if m.index == nil {
		m.index = make(map[string]int, 2*len(m.Keys))
		for i := range m.Keys {
			m.index[m.Keys[i].Name] = i
		}
	}
	if i, ok := m.index[name]; ok {
		return i
	}
	m.index[name] = len(m.Keys) // which is where it will stand
	return -1
}

// expand puts the content of an Any into the map that stands for the Any.
func (m *textMessage) expand(key Key, url string, content *Node) {
	m.add(Key{Name: "@type", start: key.start, end: key.end}, Node{Kind: String, Text: url, start: key.start + 1, end: key.end - 1})
	for i := range content.Keys {
		m.add(content.Keys[i], content.Items[i])
	}
}

// add adds an entry; what stands there already becomes a list.
func (m *textMessage) add(key Key, value Node) {
	i := m.find(key.Name)
	if i < 0 {
		m.Keys, m.Items = append(m.Keys, key), append(m.Items, value)
		return
	}
	first := &m.Items[i]
	if first.Kind != List {
		*first = Node{Kind: List, Items: []Node{*first}, start: first.start}
	}
	if value.Kind == List {
		first.Items = append(first.Items, value.Items...)
	} else {
		first.Items = append(first.Items, value)
	}
	first.end = value.end
}

// bracketed reads the name of an extension, or the type URL of an Any.
func (r *textReader) bracketed() string {
	end := bytes.IndexByte(r.text[r.at:], ']')
	if end < 0 {
		r.fail(`the "[" that begins here does not end`)
		return ""
	}
	name := strings.Join(strings.Fields(string(r.text[r.at+1:r.at+end])), "")
	r.at += end + 1
	return name
}

func (r *textReader) value(n *Node, depth int) {
	c := r.next()
	n.start = int32(r.at)
	switch {
	case c == '{':
		n.Kind = Map
		r.at++
		r.fields(n, '}', depth+1)
	case c == '<':
		n.Kind = Map
		r.at++
		r.fields(n, '>', depth+1)
	case c == '[':
		n.Kind = List
		r.at++
		r.elements(n, depth)
	case c == '"' || c == '\'':
		n.Kind, n.Text, n.end = String, "", 0
		r.literals(n)
		return
	case letter(c) || c == '-' || c == '.' || '0' <= c && c <= '9':
		r.scalar(n)
	default:
		r.fail("a value belongs here")
	}
	n.end = int32(r.at)
}

func (r *textReader) elements(n *Node, depth int) {
	if depth > maxNesting {
		r.fail("values nest more than " + strconv.Itoa(maxNesting) + " deep")
	}
	for r.err == nil {
		if r.next() == ']' {
			r.at++
			return
		}
		n.Items = append(n.Items, Node{})
		r.value(&n.Items[len(n.Items)-1], depth+1)
		switch r.next() {
		case ',':
			r.at++
		case ']':
		default:
			r.fail(`a "," or "]" belongs here`)
		}
	}
}

// scalar reads a word or a number, in whose spelling JSON's readers would know it.
func (r *textReader) scalar(n *Node) {
	start := r.at
	minus := r.text[r.at] == '-'
	if minus {
		r.at++
		r.skip()
	}
	first := r.at
	for r.at < len(r.text) {
		c := r.text[r.at]
		exponent := (c == '-' || c == '+') && r.at > first && (r.text[r.at-1]|0x20) == 'e' && '0' <= r.text[first] && r.text[first] <= '9'
		if !letter(c) && c != '.' && (c < '0' || c > '9') && !exponent {
			break
		}
		r.at++
	}
	word := string(r.text[first:r.at])
	sign := ""
	if minus {
		sign = "-"
	}
	if text, ok := textNumber(word); ok {
		n.Kind, n.Text = Number, sign+text
		return
	}
	if minus || word == "" || !letter(word[0]) {
		r.at = start
		r.fail("this is no number")
		return
	}
	n.Plain = true
	switch n.Kind, n.Text = String, word; word {
	case "true", "True", "t":
		n.Kind, n.Text = Bool, "true"
	case "false", "False", "f":
		n.Kind, n.Text = Bool, "false"
	}
}

// textNumber spells a number of proto text in decimal.
func textNumber(word string) (string, bool) {
	switch lower := strings.ToLower(word); {
	case lower == "inf" || lower == "infinity" || lower == "nan":
		return lower, true
	case word == "" || letter(word[0]) || strings.Contains(word, "_"):
		return "", false
	case strings.HasPrefix(lower, "0x"), len(word) > 1 && word[0] == '0' && strings.Trim(word, "01234567") == "":
		i, err := strconv.ParseUint(word, 0, 64)
		return strconv.FormatUint(i, 10), err == nil
	default:
		lower = strings.TrimSuffix(lower, "f")
		_, err := strconv.ParseFloat(lower, 64)
		return lower, err == nil || strings.Contains(err.Error(), "range")
	}
}

// literals reads strings that follow one another, which are one.
func (r *textReader) literals(n *Node) {
	var b []byte
	for c := r.next(); (c == '"' || c == '\'') && r.err == nil; c = r.next() {
		b = r.literal(b, c)
		n.end = int32(r.at)
	}
	n.Text = string(b)
}

func (r *textReader) literal(b []byte, quote byte) []byte {
	open := r.at
	r.at++
	for r.at < len(r.text) {
		c := r.text[r.at]
		r.at++
		switch c {
		case quote:
			return b
		case '\n':
			r.at = len(r.text)
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
	return b
}

var textEscapes = map[byte]byte{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '?': '?', '\\': '\\', '\'': '\'', '"': '"'}

// escape reads what stands behind a backslash: as in C.
func (r *textReader) escape(b []byte) []byte {
	if r.at == len(r.text) {
		return b
	}
	start := r.at - 1
	c := r.text[r.at]
	r.at++
	if plain, ok := textEscapes[c]; ok {
		return append(b, plain)
	}
	switch {
	case '0' <= c && c <= '7':
		r.at--
		return append(b, byte(r.digits(3, 8)))
	case (c == 'x' || c == 'X') && r.at < len(r.text) && hexDigit(r.text[r.at]):
		return append(b, byte(r.digits(2, 16)))
	case c == 'u':
		if first, ok := r.hex4(); ok {
			return utf8.AppendRune(b, rune(first))
		}
	case c == 'U':
		return utf8.AppendRune(b, rune(r.digits(8, 16)))
	}
	r.at = start
	r.fail("no such escape in proto text")
	return b
}

func hexDigit(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

// digits reads up to n digits.
func (r *textReader) digits(n, base int) uint64 {
	start := r.at
	for r.at < len(r.text) && r.at < start+n {
		c := r.text[r.at]
		if base == 8 && (c < '0' || c > '7') || base == 16 && !hexDigit(c) {
			break
		}
		r.at++
	}
	v, _ := strconv.ParseUint(string(r.text[start:r.at]), base, 64)
	return v
}
