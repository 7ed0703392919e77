package syntax

import (
	"bytes"
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/internal/source"
)

// enter notes the indentation of plain scalars in a collection, and returns how to leave the collection.
func (c *converter) enter(y *yaml.Node) (leave func()) {
	around := c.indent
	c.indent = y.Column
	if y.Style&(yaml.FlowStyle|yaml.TaggedStyle) != 0 || y.Anchor != "" { // of a tag or an anchor, the column is another
		c.indent = 0
	}
	return func() { c.indent = around }
}

// isObject reports whether a document is an object of Kubernetes.
func isObject(y *yaml.Node) bool {
	return y.Kind == yaml.MappingNode && slices.ContainsFunc(y.Content, func(n *yaml.Node) bool { return n.Value == "apiVersion" })
}

// checkTabs finds a tab in the indentation below a plain scalar, even if the line is empty or a comment: yaml-cpp looks there
// for the rest of the scalar. The library accepts some of them.
func (c *converter) checkTabs(at int) {
	for c.indent > 0 && c.fault == nil && !c.object {
		line := firstLine(c.text[at:])
		at += len(line) + 1
		if at >= len(c.text) || bytes.Contains(line, []byte(" #")) || bytes.Contains(line, []byte("\t#")) {
			return
		}
		line = bytes.TrimRight(firstLine(c.text[at:]), "\r")
		depth, tab := blanks(line), bytes.IndexByte(line, '\t')
		switch {
		case tab >= 0 && tab < min(depth, c.indent):
			c.fault = &Error{Span: source.Span{Start: at + tab, End: at + tab + 1}, Message: "found a tab character in the indentation below a value"}
		case depth < c.indent && depth < len(line):
			return
		}
	}
}
