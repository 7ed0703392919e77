package lint

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/tree"
)

// Edits are the changes of one fix to the finding's file. They are empty if the file has no text, or a text that is not
// safe to edit: proto text, anchors and aliases, template marks, duplicate keys, scalars over several lines.
type Edits []Edit

// Safe returns the edits as a safe fix: no request that succeeds today can fail after it.
func (e Edits) Safe(message string) []Fix { return e.fix(message, true) }

// Likely returns the edits as a fix that is probably, but not certainly, what the user means.
func (e Edits) Likely(message string) []Fix { return e.fix(message, false) }

func (e Edits) fix(message string, safe bool) []Fix {
	if len(e) == 0 {
		return nil
	}
	return []Fix{{Message: message, Safe: safe, Edits: e}}
}

// Together joins edits into one fix. The result is empty if any of them is empty, or if two of them change the same text.
func Together(all ...Edits) Edits {
	var joined Edits
	for _, e := range all {
		if len(e) == 0 {
			return nil
		}
		joined = append(joined, e...)
	}
	inOrder := slices.SortedStableFunc(slices.Values(joined), func(a, b Edit) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	for i := 1; i < len(inOrder); i++ {
		if inOrder[i].Span.Start < inOrder[i-1].Span.End {
			return nil
		}
	}
	return joined
}

// AtProblem points to something that could not be decoded.
func AtProblem(r *graph.Resource, problem graph.Problem) At {
	return r.AtPath(problem.Path)
}

// Correct returns the fix of a misspelt name, which is a value or the key of a map field. The fix is unsafe. There is
// none if the two names may be two different things.
func Correct(at At, name, near string) []Fix {
	found := at.Resource().Locate(at.Path())
	message := fmt.Sprintf("write %q", near)
	if !misspelt(name, near) {
		return nil
	}
	if key, ok := at.Path().Key(); ok && key == name {
		return Rename(at, near).Likely(message)
	}
	if found.Node == nil || found.Node.Text != name {
		return nil
	}
	return Replace(at, near).Likely(message)
}

// Replace replaces a scalar by another one: a string, a bool, an int or a float64. A string keeps the existing quotes, and
// gets quotes if it needs them.
func Replace(at At, value any) Edits {
	s, ok := spotOf(at)
	old := s.value()
	if !ok || s.Node.Kind == tree.List || s.Node.Kind == tree.Map || len(old) == 0 || bytes.ContainsAny(old, "\r\n") || old[0] == '|' || old[0] == '>' {
		return nil
	}
	return s.edit(graph.Span{Start: s.Value.Start, End: s.Value.End}, spell(value, style{plain: s.Node.Plain, quote: old[0]}))
}

// Rename changes the name of a field, or a key of a map field. A field in lowerCamelCase gets a name in lowerCamelCase.
func Rename(at At, name string) Edits {
	s, ok := spotOf(at)
	if !ok || s.Key.IsZero() || s.has(name) {
		return nil
	}
	if _, entry := at.Path().Key(); !entry && s.camel() {
		name = lowerCamel(name)
	}
	return s.edit(s.Key, respell(s.text[s.Key.Start:s.Key.End], name))
}

// Wrap puts a field's value into another message: Wrap(at, "string_match", Fields{{Name: "exact"}}) turns `exact_match: x` into
// `string_match: {exact: x}`. Each entry without a value is the field of the one before that leads to the old value; entries with a
// value are written before the next one, in the same message. A value over several lines is moved unchanged.
func Wrap(at At, name string, inner Fields) Edits {
	s, ok := spotOf(at)
	if !ok || s.Key.IsZero() {
		return nil
	}
	renamed := Rename(at, name)
	if renamed == nil {
		return nil
	}
	key := s.text[s.Key.Start:s.Key.End]
	if s.camel() {
		inner = inner.lowerCamel()
	}
	value := s.value()
	if s.flow || s.fitsFlow() && !inner.beside() {
		open, closing := s.brackets(key, inner)
		return Together(renamed, s.edit(s.Value, open+string(value)+closing))
	}
	return Together(renamed, s.nest(key, inner))
}

// Exchange replaces a field and its value by another one, or gives it another value. The value is a scalar as in Replace, Fields or a List. There is no
// edit if the old value may have comments in it.
func Exchange(at At, name string, value any) Edits {
	s, ok := spotOf(at)
	if !ok || s.Key.IsZero() || bound(s.Node) || name != s.name() && s.has(name) || bytes.IndexByte(s.value(), '#') >= 0 {
		return nil
	}
	if s.camel() {
		name = lowerCamel(name)
		if fields, ok := value.(Fields); ok {
			value = fields.lowerCamel()
		}
	}
	if s.flow {
		plain := s.plain()
		return s.edit(graph.Span{Start: s.start, End: s.end}, spellKey(name, style{plain: plain})+": "+spell(value, style{plain: plain}))
	}
	if s.open() {
		return nil
	}
	return s.edit(graph.Span{Start: s.start, End: s.end}, strings.TrimLeft(s.lines(s.indent(), name, value), " "))
}

// Remove removes a field or an element of a list, with its lines and the comment after it. The last one leaves {} or [].
func Remove(at At) Edits {
	s, ok := spotOf(at)
	switch {
	case !ok || bound(s.Node):
		return nil
	case len(s.In.Items) == 1:
		return s.removeOnly()
	case s.flow:
		return s.removeFlow()
	}
	return s.removeBlock()
}

// Insert adds a field to the message at a place, after the others. The value is a scalar as in Replace, or Fields.
func Insert(at At, field string, value any) Edits {
	c, ok := collectionAt(at)
	if !ok || c.node.Kind != tree.Map || c.has(field) || c.node.Get("@type") != nil && c.node.Get("value") != nil {
		return nil
	}
	if len(c.node.Items) == 0 {
		return c.fill(field, value)
	}
	last, ok := c.element(len(c.node.Items) - 1)
	if !ok {
		return nil
	}
	return last.insertBehind(field, value)
}

// Join makes an element of a list a part of the one before it, by removing its dash.
func Join(at At) Edits {
	s, ok := spotOf(at)
	if !ok || s.flow || s.In.Kind != tree.List || s.Index == 0 || s.Node.Kind != tree.Map || isFlow(s.Node, s.text) {
		return nil
	}
	before := collection{node: &s.In.Items[s.Index-1], in: s.in, text: s.text}
	if before.node.Kind != tree.Map || isFlow(before.node, s.text) || slices.ContainsFunc(s.Node.Keys, func(k tree.Key) bool { return before.has(k.Name) }) {
		return nil
	}
	column := func(n *graph.TextNode) int { return n.Span().Start - lineStart(s.text, n.Span().Start) }
	last, ok := before.element(len(before.node.Items) - 1)
	if !ok || last.open() || column(before.node) != column(s.Node) || lineStart(s.text, s.start) != lineStart(s.text, s.Value.Start) {
		return nil
	}
	return s.edit(graph.Span{Start: s.start, End: s.start + 1}, " ")
}

// Swap exchanges two elements of one list, with their comments.
func Swap(a, b At) Edits {
	first, ok := spotOf(a)
	second, alsoOK := spotOf(b)
	if !ok || !alsoOK || a.Resource() != b.Resource() || first.In.Span() != second.In.Span() || first.In.Kind != tree.List || first.Index == second.Index {
		return nil
	}
	if first.Index > second.Index {
		first, second = second, first
	}
	one, ok := first.unit()
	other, alsoOK := second.unit()
	if !ok || !alsoOK {
		return nil
	}
	return Together(
		first.edit(one, string(first.text[other.Start:other.End])),
		first.edit(other, string(first.text[one.Start:one.End])),
	)
}

// MoveToEnd makes an element the last of its list, with its comments.
func MoveToEnd(at At) Edits {
	s, ok := spotOf(at)
	if !ok || s.In.Kind != tree.List || s.Index == len(s.In.Items)-1 {
		return nil
	}
	last, ok := collection{node: s.In, in: s.in, text: s.text, flow: s.flow}.element(len(s.In.Items) - 1)
	unit, alsoOK := s.unit()
	if !ok || !alsoOK {
		return nil
	}
	moved := string(s.text[unit.Start:unit.End])
	if s.flow {
		gap := s.text[s.end:s.next().start]
		if !onlyComma(gap) || bytes.IndexByte(gap, '#') >= 0 {
			return nil
		}
		return Together(s.edit(graph.Span{Start: s.start, End: s.next().start}, ""), last.edit(at0(last.end), ", "+moved))
	}
	end, ok := last.unit()
	if !ok {
		return nil
	}
	_, after := lineEnd(s.text, unit.End)
	return Together(s.edit(graph.Span{Start: unit.Start, End: after}, ""), last.edit(at0(end.End), s.eol()+moved))
}

func at0(offset int) graph.Span { return graph.Span{Start: offset, End: offset} }
