package lint

import (
	"bytes"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// collection is a map or list in a text.
type collection struct {
	node *tree.Node
	in   *graph.Resource
	text []byte
	flow bool // in brackets: JSON, or YAML's flow style
}

// spot is an element of a collection.
type spot struct {
	tree.Location
	in         *graph.Resource
	text       []byte
	flow       bool
	start, end int // of the element, with its key or dash
}

func spotOf(at At) (s spot, ok bool) {
	r := at.Resource()
	found := r.Locate(at.Path())
	if r.Text == nil || !found.Exact || found.In == nil || found.Index < 0 {
		return s, false
	}
	c := collection{node: found.In, in: r, text: r.File.Text, flow: isFlow(found.In, r.File.Text)}
	return c.element(found.Index)
}

// collectionAt returns the message at a place.
func collectionAt(at At) (c collection, ok bool) {
	r := at.Resource()
	found := r.Locate(at.Path())
	if r.Text == nil || !found.Exact || found.Node == nil || found.Node.Bound || found.Value.Start >= found.Value.End || found.Value.End > len(r.File.Text) {
		return c, false
	}
	return collection{node: found.Node, in: r, text: r.File.Text, flow: isFlow(found.Node, r.File.Text)}, true
}

func isFlow(n *tree.Node, text []byte) bool {
	at := n.Span().Start
	return at < len(text) && (text[at] == '{' || text[at] == '[')
}

// element finds where an element begins and ends. It is not ok if that is not certain.
func (c collection) element(i int) (s spot, ok bool) {
	node := &c.node.Items[i]
	s = spot{Location: tree.Location{Value: node.Span(), Exact: true, Node: node, In: c.node, Index: i}, in: c.in, text: c.text, flow: c.flow}
	if node.Bound || c.node.Bound {
		return s, false
	}
	if c.node.Kind == tree.Map {
		s.Key = c.node.Keys[i].Span()
		s.start = s.Key.Start
		for j, key := range c.node.Keys {
			if j != i && key.Name == c.node.Keys[i].Name {
				return s, false
			}
		}
	} else if s.start, ok = c.dash(i); !ok {
		return s, false
	}
	if s.end = s.Value.End; s.Value.Start == s.Value.End {
		if s.end = s.colon(); s.end < 0 {
			return s, false
		}
	}
	good := c.node.Span().Start <= s.start && s.start < s.end && s.end <= len(c.text) && s.Value.Start <= s.Value.End
	return s, good && s.ends()
}

// dash returns where an element of a list begins.
func (c collection) dash(i int) (at int, ok bool) {
	start, first := c.node.Items[i].Span().Start, c.node.Span().Start
	if c.flow {
		return start, true
	}
	if i == 0 {
		return first, first < len(c.text) && c.text[first] == '-'
	}
	column := first - lineStart(c.text, first)
	for line := lineStart(c.text, start); line >= c.node.Items[i-1].Span().End; line = lineStart(c.text, line-1) {
		if at = line + column; at < start && c.text[at] == '-' && blank(c.text[line:at]) {
			return at, true
		}
		if line == 0 {
			break
		}
	}
	return 0, false
}

// colon returns the end of an element without a value: after its colon.
func (s spot) colon() int {
	if s.Key.IsZero() {
		return -1
	}
	at := s.Key.End
	for at < len(s.text) && s.text[at] == ' ' {
		at++
	}
	if at == len(s.text) || s.text[at] != ':' {
		return -1
	}
	return at + 1
}

// ends reports whether the element ends where the reader says. Of a plain scalar on several lines, the reader knows only the first line.
func (s spot) ends() bool {
	if s.flow {
		i := skipSpace(s.text, s.end)
		return i < len(s.text) && (s.text[i] == ',' || s.text[i] == ']' || s.text[i] == '}')
	}
	content, after := lineEnd(s.text, s.end)
	if rest := bytes.TrimLeft(s.text[s.end:content], " \t"); len(rest) > 0 && (rest[0] != '#' || len(rest) == content-s.end) {
		return false
	}
	column := s.start - lineStart(s.text, s.start)
	next, indent := contentFrom(s.text, after)
	return next == len(s.text) || indent <= column
}

// name returns the name of the element's field in the spelling of the text.
func (s spot) name() string {
	if s.In.Kind != tree.Map {
		return ""
	}
	return s.In.Keys[s.Index].Name
}

func (s spot) value() []byte {
	if s.Node == nil || s.Value.End > len(s.text) {
		return nil
	}
	return s.text[s.Value.Start:s.Value.End]
}

func (s spot) has(name string) bool { return collection{node: s.In}.has(name) }

func (c collection) has(name string) bool {
	return c.node.Kind != tree.Map || c.node.Get(name) != nil || c.node.Field(name) != nil
}

// next returns the following element, of which only the start is set.
func (s spot) next() spot {
	c := collection{node: s.In, text: s.text, flow: s.flow}
	n := spot{text: s.text, flow: s.flow}
	if s.In.Kind == tree.Map {
		n.start = s.In.Keys[s.Index+1].Span().Start
	} else {
		n.start, _ = c.dash(s.Index + 1)
	}
	return n
}

// before returns the end of the previous element.
func (s spot) before() int { return s.In.Items[s.Index-1].Span().End }

// edit replaces a span, unless it has a template mark.
func (s spot) edit(span source.Span, text string) Edits {
	for _, mark := range []string{"{{", "{%", "<%", "${"} {
		if bytes.Contains(s.text[span.Start:span.End], []byte(mark)) {
			return nil
		}
	}
	return Edits{{Span: span, New: text, in: s.in}}
}

// eol returns the line break of the file.
func (s spot) eol() string {
	if i := bytes.IndexByte(s.text, '\n'); i > 0 && s.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// bound reports whether a value has an anchor, alias or tag anywhere.
func bound(n *tree.Node) bool {
	if n.Bound {
		return true
	}
	for i := range n.Items {
		if bound(&n.Items[i]) {
			return true
		}
	}
	return false
}

// keeps reports whether blank lines after a text may be part of its last scalar.
func keeps(text []byte) bool {
	return bytes.Contains(text, []byte("|+")) || bytes.Contains(text, []byte(">+"))
}

func lineStart(text []byte, at int) int {
	start := bytes.LastIndexByte(text[:max(at, 0)], '\n') + 1
	if start == 0 && bytes.HasPrefix(text, []byte("\ufeff")) && at >= 3 {
		return 3
	}
	return start
}

// lineEnd returns where the line around an offset ends: its content, and its line break.
func lineEnd(text []byte, at int) (content, after int) {
	i := bytes.IndexByte(text[at:], '\n')
	if i < 0 {
		return len(text), len(text)
	}
	content = at + i
	if content > at && text[content-1] == '\r' {
		content--
	}
	return content, at + i + 1
}

func blank(text []byte) bool { return len(bytes.Trim(text, " ")) == 0 }

// contentFrom finds the next line that holds more than space and a comment.
func contentFrom(text []byte, line int) (at, indent int) {
	for line < len(text) {
		content, after := lineEnd(text, line)
		body := bytes.TrimLeft(text[line:content], " ")
		if trimmed := bytes.TrimSpace(body); len(trimmed) > 0 && trimmed[0] != '#' {
			return line, content - line - len(body)
		}
		line = after
	}
	return len(text), 0
}

// skipSpace skips space, line breaks and comments between elements in brackets.
func skipSpace(text []byte, at int) int {
	for at < len(text) {
		switch c := text[at]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
			at++
		case c == '#' && at > 0 && bytes.IndexByte([]byte(" \t\n,[{"), text[at-1]) >= 0:
			at, _ = lineEnd(text, at)
		default:
			return at
		}
	}
	return at
}

// onlyComma reports whether a text between two elements in brackets is a comma, with space and comments around it.
func onlyComma(gap []byte) bool {
	at := skipSpace(gap, 0)
	return at < len(gap) && gap[at] == ',' && skipSpace(gap, at+1) == len(gap)
}
