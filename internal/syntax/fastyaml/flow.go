package fastyaml

import (
	"strings"

	"github.com/xdslint/xdslint/internal/tree"
)

// flow reads a map or list in brackets. Its lines can begin in any column.
func (p *reader) flow(depth int) tree.Node {
	if depth > tree.MaxDepth {
		return p.giveUp()
	}
	n, closing := tree.Node{Kind: tree.List, Start: int32(p.at)}, byte(']')
	if p.text[p.at] == '{' {
		n.Kind, closing = tree.Map, '}'
	}
	mark, keys := len(p.nodes), len(p.keys)
	p.at++
	for !p.unknown {
		if p.flowNext() == closing {
			p.at++
			break
		}
		if n.Kind == tree.Map {
			p.flowKey()
		}
		p.push(p.flowValue(depth))
		switch p.flowNext() {
		case ',':
			p.at++
		case closing:
		default:
			p.giveUp()
		}
	}
	n.Items, n.Keys = p.takeNodes(mark), p.takeKeys(keys)
	n.End = int32(p.at)
	return n
}

// flowNext skips space, line breaks and comments, and returns the next byte, or 0 if there is none.
func (p *reader) flowNext() byte {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == ' ':
			p.skipSpaces()
		case c == '\n':
			p.at++
		case p.text[p.at-1] == '\n' && p.marker():
			p.giveUp()
		case c == '#' && (p.text[p.at-1] == ' ' || p.text[p.at-1] == '\n'):
			p.skipLine()
		default:
			return c
		}
	}
	return 0
}

func (p *reader) flowKey() {
	key := tree.Key{Start: int32(p.at)}
	quoted := false
	switch c := p.flowNext(); {
	case c == '"' || c == '\'':
		n := p.quoted()
		key.Name, key.End, quoted = n.Text, n.End, true
	case c == 0 || p.indicator():
		p.giveUp()
	default:
		key.Name = p.flowText()
		key.End = int32(p.at)
	}
	p.keys = append(p.keys, key)
	p.skipSpaces()
	if p.at == len(p.text) || p.text[p.at] != ':' || len(key.Name) > 1000 { // yaml-cpp wants the colon in the same line
		p.giveUp()
		return
	}
	p.at++
	if !quoted && p.at < len(p.text) && p.text[p.at] != ' ' && p.text[p.at] != '\n' {
		p.giveUp()
	}
}

func (p *reader) flowValue(depth int) tree.Node {
	switch c := p.flowNext(); {
	case c == '"' || c == '\'':
		return p.quoted()
	case c == '{' || c == '[':
		return p.flow(depth + 1)
	case c == 0 || p.indicator():
		return p.giveUp()
	}
	start := int32(p.at)
	n := tree.Word(p.flowText())
	n.Start, n.End = start, int32(p.at)
	return n
}

// flowText reads a plain scalar between brackets.
func (p *reader) flowText() string {
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		if strings.IndexByte(",[]{}\n", c) >= 0 || c == ':' && (p.at+1 == len(p.text) || strings.IndexByte(" \n,[]{}", p.text[p.at+1]) >= 0) {
			break
		}
		if c == '#' || c == '?' || c == '"' || c == '\'' { // rare here, and tricky
			p.giveUp()
			return ""
		}
	}
	text := strings.TrimRight(p.text[start:p.at], " ")
	p.at = start + len(text)
	return text
}

// literal reads a block behind "|", "|-" or "|+", and goes to the next line.
func (p *reader) literal(column int) tree.Node {
	n := tree.Node{Kind: tree.String, Start: int32(p.at)}
	p.at++
	chomp := byte(0)
	if p.at < len(p.text) && (p.text[p.at] == '-' || p.text[p.at] == '+') {
		chomp = p.text[p.at]
		p.at++
	}
	if !p.lineEnds() || p.at == len(p.text) || p.text[p.at] == '#' {
		return p.giveUp()
	}
	p.at++
	indent := -1
	var b strings.Builder
	trailing := 0 // line breaks behind the last line that is not empty
	for p.at < len(p.text) {
		line := p.text[p.at:]
		i := strings.IndexByte(line, '\n')
		if i < 0 { // without a line break at the end, it depends
			return p.giveUp()
		}
		line = line[:i]
		body := strings.TrimLeft(line, " ")
		depth := len(line) - len(body)
		if body != "" {
			if indent < 0 {
				indent = depth
			}
			if depth < indent || depth <= column {
				break
			}
			b.WriteString(strings.Repeat("\n", trailing))
			b.WriteString(line[indent:])
			trailing, n.End = 1, int32(p.at+len(line))
		} else {
			if indent < 0 || depth > indent { // its spaces may matter
				return p.giveUp()
			}
			trailing++
		}
		p.at += i + 1
	}
	if indent <= column {
		return p.giveUp()
	}
	switch chomp {
	case 0:
		trailing = 1
	case '-':
		trailing = 0
	}
	n.Text = b.String() + strings.Repeat("\n", trailing)
	p.line()
	if p.column > column {
		p.giveUp()
	}
	return n
}
