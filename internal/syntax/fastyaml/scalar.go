package fastyaml

import (
	"strings"

	"github.com/xdslint/xdslint/internal/tree"
)

// indicator reports whether a plain scalar cannot begin with a byte. "-", "?" and ":" are indicators only before a space.
func (p *reader) indicator() bool {
	c := p.text[p.at]
	if strings.IndexByte(",[]{}#&*!|>'\"%@`", c) >= 0 {
		return true
	}
	if c != '-' && c != '?' && c != ':' {
		return false
	}
	return p.at+1 == len(p.text) || strings.IndexByte(" \n,[]{}", p.text[p.at+1]) >= 0
}

// key returns where the key at this place ends, without moving, or false if there is no key.
func (p *reader) key() (end int, ok bool) {
	if p.at >= len(p.text) {
		return 0, false
	}
	if c := p.text[p.at]; c == '"' || c == '\'' {
		end = p.quoteEnd(p.at)
		if end < 0 {
			return 0, false
		}
		colon := end
		for colon < len(p.text) && p.text[colon] == ' ' {
			colon++
		}
		return end, p.colon(colon) && end-p.at < 1000
	}
	if p.indicator() {
		return 0, false
	}
	for i := p.at; i < len(p.text) && i-p.at < 1000; i++ {
		switch p.text[i] {
		case '\n':
			return 0, false
		case '#':
			if p.text[i-1] == ' ' {
				return 0, false
			}
		case ':':
			if p.colon(i) {
				return p.at + len(strings.TrimRight(p.text[p.at:i], " ")), true
			}
		}
	}
	return 0, false
}

// colon reports whether there is a colon that ends a key in a block.
func (p *reader) colon(i int) bool {
	return i < len(p.text) && p.text[i] == ':' && (i+1 == len(p.text) || p.text[i+1] == ' ' || p.text[i+1] == '\n')
}

func (p *reader) keyName(end int) string {
	if c := p.text[p.at]; c == '"' || c == '\'' {
		return p.unquote(p.text[p.at:end])
	}
	return p.text[p.at:end]
}

// quoteEnd returns the end of a quoted scalar, or -1 if it is not in the same line.
func (p *reader) quoteEnd(start int) int {
	quote := p.text[start]
	for i := start + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '\n':
			return -1
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'' && i+1 < len(p.text) && p.text[i+1] == quote:
			i++
		case c == quote:
			return i + 1
		}
	}
	return -1
}

func (p *reader) unquote(text string) string {
	inner := text[1 : len(text)-1]
	if text[0] == '\'' {
		return strings.ReplaceAll(inner, "''", "'")
	}
	if strings.IndexByte(inner, '\\') < 0 {
		return inner
	}
	b := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		if inner[i] != '\\' {
			b = append(b, inner[i])
			continue
		}
		i++
		switch c := inner[i]; c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'n':
			b = append(b, '\n')
		case 't':
			b = append(b, '\t')
		case 'r':
			b = append(b, '\r')
		default:
			p.giveUp()
			return ""
		}
	}
	return string(b)
}

// value reads the value behind a colon or dash, and goes to the next line.
func (p *reader) value(column, depth int) (n tree.Node) {
	switch c := p.text[p.at]; {
	case c == '"' || c == '\'':
		n = p.quoted()
		p.endLine()
	case c == '{' || c == '[':
		n = p.flow(depth + 1)
		p.endLine()
	case c == '|':
		n = p.literal(column)
	case p.indicator():
		p.giveUp()
	default:
		n = p.scalar()
		p.endLine()
	}
	return n
}

func (p *reader) quoted() tree.Node {
	end := p.quoteEnd(p.at)
	if end < 0 {
		return p.giveUp()
	}
	n := tree.Node{Kind: tree.String, Text: p.unquote(p.text[p.at:end]), Start: int32(p.at), End: int32(end)}
	if !p.unknown {
		p.at = end
	}
	return n
}

// scalar reads a plain scalar up to the end of the line.
func (p *reader) scalar() tree.Node {
	end := len(p.text)
	if i := strings.IndexByte(p.text[p.at:], '\n'); i >= 0 {
		end = p.at + i
	}
	text := p.text[p.at:end]
	if i := strings.Index(text, " #"); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimRight(text, " ")
	if text[len(text)-1] == ':' || strings.Contains(text, ": ") {
		return p.giveUp()
	}
	n := tree.Word(text)
	n.Start = int32(p.at)
	p.at += len(text)
	n.End = int32(p.at)
	return n
}
