package syntax

import (
	"bytes"

	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/internal/tree"
)

// yaml.v4 gives a node's line and rune column, but no end; these functions read the ends off the text.

// begin is where a node's own text starts, behind its anchor and tag. That may be in a later line, unless there is no text.
func (c *converter) begin(y *yaml.Node) int {
	at := c.lines.offset(y.Line, y.Column)
	start := at
	for at < len(c.text) && (c.text[at] == '&' || c.text[at] == '!') {
		at += bytes.IndexAny(append(c.text[at:min(len(c.text), at+1024):min(len(c.text), at+1024)], ' '), " \t\r\n,]}")
		for at < len(c.text) && (c.text[at] == ' ' || c.text[at] == '\t') {
			at++
		}
	}
	if empty := y.Kind == yaml.ScalarNode && y.Value == ""; at > start && !empty {
		at = c.skipLines(at)
	}
	return min(at, len(c.text))
}

// skipLines returns the first offset behind line breaks and comments.
func (c *converter) skipLines(at int) int {
	for at < len(c.text) {
		switch c.text[at] {
		case ' ', '\t', '\r', '\n':
			at++
		case '#':
			at += len(firstLine(c.text[at:]))
		default:
			return at
		}
	}
	return at
}

func (c *converter) scalarEnd(y *yaml.Node, start int) int {
	rest := c.text[start:]
	switch {
	case y.Kind == yaml.AliasNode:
		return start + wordEnd(rest)
	case len(rest) > 0 && rest[0] == '"' && y.Style&yaml.DoubleQuotedStyle != 0:
		return start + quotedEnd(rest, '"')
	case len(rest) > 0 && rest[0] == '\'' && y.Style&yaml.SingleQuotedStyle != 0:
		return start + quotedEnd(rest, '\'')
	case y.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		return start + blockEnd(rest)
	case bytes.HasPrefix(rest, []byte(y.Value)):
		return start + len(y.Value)
	}
	// A plain scalar over several lines: its first line shows where it is.
	return start + len(bytes.TrimRight(firstLine(rest), " \t\r"))
}

func firstLine(text []byte) []byte {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return text[:i]
	}
	return text
}

func wordEnd(text []byte) int {
	if i := bytes.IndexAny(text, " \t\r\n,]}"); i >= 0 {
		return i
	}
	return len(text)
}

func quotedEnd(text []byte, quote byte) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote == '"':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

// blockEnd measures a literal or folded scalar: its header line, and all lines at least as deep as its first one.
func blockEnd(text []byte) int {
	end := len(firstLine(text))
	indent := -1
	for at := end + 1; at < len(text); {
		line := firstLine(text[at:])
		body := bytes.TrimLeft(line, " ")
		if len(bytes.TrimSpace(body)) > 0 {
			depth := len(line) - len(body)
			if indent < 0 {
				indent = depth
			}
			if depth < indent || depth == 0 {
				break
			}
			end = at + len(line)
		}
		at += len(line) + 1
	}
	return end
}

// collectionEnd is the end of the last child, or behind the closing bracket.
func (c *converter) collectionEnd(y *yaml.Node, n *tree.Node) int32 {
	end := n.Start
	for i := range n.Items {
		end = max(end, n.Items[i].End)
	}
	for i := range n.Keys {
		end = max(end, n.Keys[i].End)
	}
	if y.Style&yaml.FlowStyle == 0 {
		return end
	}
	at := int(end)
	if len(n.Items) == 0 {
		at++ // the opening bracket
	}
	for ; at < len(c.text); at++ {
		switch c.text[at] {
		case '}', ']':
			return int32(at + 1)
		case '#':
			at += len(firstLine(c.text[at:])) - 1
		}
	}
	return end
}
