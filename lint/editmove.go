package lint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// step is the indent of a message below its field.
const step = "  "

// open reports whether the element ends with a text whose value depends on what follows.
func (s spot) open() bool {
	return keeps(s.value()) || s.end == len(s.text) && bytes.ContainsAny(s.value(), "|>")
}

// indent returns the indent of the element, in spaces.
func (s spot) indent() string {
	return strings.Repeat(" ", s.start-lineStart(s.text, s.start))
}

// insertBehind adds a field after the last field.
func (s spot) insertBehind(field string, value any) Edits {
	if !s.flow {
		if s.open() {
			return nil
		}
		content, _ := lineEnd(s.text, s.end)
		return s.edit(at0(content), s.eol()+s.lines(s.indent(), field, value))
	}
	plain := s.plain()
	space := " "
	if line := lineStart(s.text, s.start); line > s.In.Span().Start && len(bytes.TrimSpace(s.text[line:s.start])) == 0 {
		space = s.eol() + string(s.text[line:s.start])
	}
	return s.edit(at0(s.end), ","+space+spellKey(field, style{plain: plain})+": "+spell(value, style{plain: plain}))
}

// plain reports whether the element or its message has YAML's words without quotes.
func (s spot) plain() bool {
	return !s.Key.IsZero() && s.text[s.Key.Start] != '"' || slices.ContainsFunc(s.In.Items, func(n tree.Node) bool { return n.Plain })
}

// camel reports whether the name of the field is in lowerCamelCase.
func (s spot) camel() bool { return strings.ToLower(s.name()) != s.name() }

// lines writes a field in block style.
func (s spot) lines(indent, field string, value any) string {
	return indent + spellKey(field, style{plain: true}) + ":" + s.below(indent, value)
}

// below writes the value of a field in block style, behind its colon.
func (s spot) below(indent string, value any) (out string) {
	switch v := value.(type) {
	case Fields:
		for _, e := range v {
			out += s.eol() + s.lines(indent+step, e.Name, e.Value)
		}
	case List:
		for _, item := range v {
			out += s.eol() + indent + "- " + strings.TrimLeft(s.below(indent, item), " \r\n")
		}
	}
	if out == "" {
		return " " + spell(value, style{plain: true})
	}
	return out
}

// fill writes the first field of an empty message.
func (c collection) fill(field string, value any) Edits {
	span := c.node.Span()
	inside := c.text[span.Start+1 : max(span.End-1, span.Start+1)]
	if !c.flow || len(bytes.TrimSpace(inside)) > 0 {
		return nil
	}
	return Edits{{Span: span, New: spell(Fields{{field, value}}, style{}), in: c.in}}
}

// fitsFlow reports whether a value in a block can be in brackets unchanged.
func (s spot) fitsFlow() bool {
	value := s.value()
	if len(value) == 0 || bytes.IndexByte(value, '\n') >= 0 {
		return false
	}
	if s.Node.Plain {
		return !bytes.ContainsAny(value, "#,[]{}&*!|>:?")
	}
	opening := `"'`
	if s.Node.Kind == tree.List || s.Node.Kind == tree.Map {
		opening = "{["
	}
	return strings.IndexByte(opening, value[0]) >= 0
}

// brackets returns what is written before and behind a value that moves into more fields.
func (s spot) brackets(key []byte, inner Fields) (open, closing string) {
	for beside := false; len(inner) > 0; inner = inner[1:] {
		if !beside {
			open, closing = open+"{", closing+"}"
		}
		open += respell(key, inner[0].Name) + ": "
		if beside = inner[0].Value != nil; beside {
			open += spell(inner[0].Value, style{plain: s.plain()}) + ", "
		}
	}
	return open, closing
}

// nest moves a value in a block deeper, below more fields.
func (s spot) nest(key []byte, inner Fields) Edits {
	out, indent, deeper, beside := "", s.indent(), "", false
	for _, e := range inner {
		if !beside {
			out, indent, deeper = out+":", indent+step, deeper+step
		}
		out += s.eol() + indent + respell(key, e.Name)
		if beside = e.Value != nil; beside {
			out += ":" + s.below(indent, e.Value)
		}
	}
	for i, line := range strings.SplitAfter(string(s.text[s.Key.End:s.end]), "\n") {
		if i > 0 && strings.TrimSpace(line) != "" {
			out += deeper
		}
		out += line
	}
	return s.edit(source.Span{Start: s.Key.End, End: s.end}, out)
}

// unit returns what moves with an element of a list: in brackets the element, else its lines and the comments directly above.
func (s spot) unit() (u source.Span, ok bool) {
	if bound(s.Node) {
		return u, false
	}
	if s.flow {
		return source.Span{Start: s.start, End: s.end}, true
	}
	line := lineStart(s.text, s.start)
	if !blank(s.text[line:s.start]) || keeps(s.value()) {
		return u, false
	}
	if s.text[len(s.text)-1] != '\n' && bytes.ContainsAny(s.value(), "|>") { // after the move its line break could be missing
		return u, false
	}
	if s.Index > 0 && keeps(s.text[s.In.Items[s.Index-1].Span().Start:s.before()]) {
		return u, false
	}
	u.End, _ = lineEnd(s.text, s.end)
	column := s.start - line
	for u.Start = line; u.Start > 0; {
		above := lineStart(s.text, u.Start-1)
		body := bytes.TrimLeft(s.text[above:u.Start], " ")
		if len(body) == 0 || body[0] != '#' || u.Start-above-len(body) != column {
			break
		}
		u.Start = above
	}
	return u, true
}
