package syntax

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// ParseProtoText reads the structure of a proto text: where its fields are. Protobuf's own reader decodes and checks
// them. A repeated field becomes a list, and `[type.googleapis.com/x.y.Z] {…}` a map with an "@type".
func ParseProtoText(file *source.File) ([]*tree.Node, error) {
	if !utf8.Valid(file.Text) {
		return nil, invalidUTF8(file.Text)
	}
	if err := tooMany(file.Text, ":{<,"); err != nil {
		return nil, err
	}
	o := &outline{text: file.Text}
	o.next()
	n := &tree.Node{Kind: tree.Map, Bound: true, Start: int32(o.start)}
	o.fields(n, end, 0)
	n.End = max(n.Start, int32(len(bytes.TrimRight(file.Text, " \t\r\n\v\f"))))
	if o.err != nil {
		return nil, o.err
	}
	return []*tree.Node{n}, nil
}

// outline reads one token at a time. A token is a word, a string or one other byte. That byte is the kind of the token.
type outline struct {
	text       []byte
	kind       byte
	start, end int // of the token
	err        *Error
}

const (
	end    = 0
	word   = 'a'
	quoted = '"'
)

func (o *outline) fail(message string) {
	if o.err == nil {
		o.err = &Error{Span: source.Span{Start: o.start, End: min(o.start+1, len(o.text))}, Message: message}
	}
	o.kind, o.end = end, len(o.text)
}

// next reads the next token.
func (o *outline) next() {
	for o.end < len(o.text) && (isBlank(o.text[o.end]) || o.text[o.end] == '#') {
		if o.text[o.end] == '#' {
			o.end += len(firstLine(o.text[o.end:]))
		} else {
			o.end++
		}
	}
	if o.start = o.end; o.end == len(o.text) {
		o.kind = end
		return
	}
	switch c := o.text[o.end]; {
	case isWord(c):
		for o.kind = word; o.end < len(o.text) && isWord(o.text[o.end]); {
			o.end++
		}
	case c == '"' || c == '\'':
		o.kind = quoted
		o.quoted(c)
	default:
		o.kind = c
		o.end++
	}
}

func isBlank(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func isWord(c byte) bool {
	return letter(c) || '0' <= c && c <= '9' || c == '.' || c == '-' || c == '+'
}

func (o *outline) quoted(quote byte) {
	for o.end++; o.end < len(o.text) && o.text[o.end] != '\n'; o.end++ {
		switch o.text[o.end] {
		case quote:
			o.end++
			return
		case '\\':
			o.end++
		}
	}
	o.fail("the string that begins here does not end")
}

// fields reads fields up to the closing bracket.
func (o *outline) fields(n *tree.Node, closing byte, depth int) {
	if depth > maxNesting {
		o.fail("messages nest more than " + strconv.Itoa(maxNesting) + " deep")
	}
	m := message{n, map[string]int{}}
	for o.err == nil && o.kind != closing {
		key := o.key()
		switch o.kind {
		case ':':
			o.next()
		case '{', '<', '[':
		default:
			o.fail(`expected ":" or "{"`)
		}
		var value tree.Node
		o.value(&value, depth+1)
		if url, ok := strings.CutPrefix(key.Name, "["); ok && value.Kind == tree.Map {
			m.add(tree.Key{Name: "@type", Start: key.Start, End: key.End}, tree.Node{Kind: tree.String, Bound: true, Text: url[:len(url)-1], Start: key.Start + 1, End: key.End - 1})
			for i := range value.Keys {
				m.add(value.Keys[i], value.Items[i])
			}
		} else {
			m.add(key, value)
		}
		if o.kind == ',' || o.kind == ';' {
			o.next()
		}
	}
}

// key reads the name of a field, or a type URL in brackets.
func (o *outline) key() tree.Key {
	start := o.start
	switch o.kind {
	case word:
	case '[':
		i := bytes.IndexByte(o.text[start:], ']')
		if i < 0 {
			o.fail(`the "[" that begins here does not end`)
			return tree.Key{}
		}
		o.end = start + i + 1
	default:
		o.fail("expected the name of a field")
		return tree.Key{}
	}
	key := tree.Key{Name: strings.Join(strings.Fields(string(o.text[start:o.end])), ""), Start: int32(start), End: int32(o.end)}
	o.next()
	return key
}

// message is an unfinished map, with the places of its keys.
type message struct {
	*tree.Node
	index map[string]int
}

// add adds an entry. If its key already exists, the value becomes a list.
func (n message) add(key tree.Key, value tree.Node) {
	i, twice := n.index[key.Name]
	if !twice {
		n.index[key.Name] = len(n.Keys)
		n.Keys, n.Items = append(n.Keys, key), append(n.Items, value)
		return
	}
	list := &n.Items[i]
	if list.Kind != tree.List {
		*list = tree.Node{Kind: tree.List, Bound: true, Items: []tree.Node{*list}, Start: list.Start}
	}
	if value.Kind == tree.List {
		list.Items = append(list.Items, value.Items...)
	} else {
		list.Items = append(list.Items, value)
	}
	list.End = value.End
}

func (o *outline) value(n *tree.Node, depth int) {
	n.Bound, n.Start = true, int32(o.start)
	switch o.kind {
	case '{', '<':
		n.Kind = tree.Map
		closing := o.kind + 2 // in ASCII, both
		o.next()
		o.fields(n, closing, depth)
	case '[':
		n.Kind = tree.List
		o.next()
		o.elements(n, depth)
	case word:
		n.Kind, n.Plain, n.Text = tree.String, true, string(o.text[o.start:o.end])
		if n.Text == "-" { // there may be a blank before the number
			o.next()
		}
	case quoted:
		o.strings(n)
		return
	default:
		o.fail("expected a value")
	}
	n.End = int32(o.end)
	o.next()
}

func (o *outline) elements(n *tree.Node, depth int) {
	if depth > maxNesting {
		o.fail("values nest more than " + strconv.Itoa(maxNesting) + " deep")
	}
	for o.err == nil && o.kind != ']' {
		n.Items = append(n.Items, tree.Node{})
		o.value(&n.Items[len(n.Items)-1], depth+1)
		switch o.kind {
		case ',':
			o.next()
		case ']':
		default:
			o.fail(`expected "," or "]"`)
		}
	}
}

// strings joins strings that follow one another. Go knows nearly all of proto text's escapes; others stay as they are.
func (o *outline) strings(n *tree.Node) {
	n.Kind = tree.String
	var all strings.Builder
	for ; o.kind == quoted; o.next() {
		inner := string(o.text[o.start+1 : o.end-1])
		if text, err := strconv.Unquote(`"` + inner + `"`); err == nil {
			inner = text
		}
		all.WriteString(inner)
		n.End = int32(o.end)
	}
	n.Text = all.String()
}
