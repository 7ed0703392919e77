package fastyaml

import (
	"bytes"

	"github.com/xdslint/xdslint/internal/tree"
)

// sectionDepth is the depth of the lists in a section of a text: of clusters in {static_resources: {clusters: […]}}.
const sectionDepth = 2

// skips reports whether a list stays unread, which is the value of a key at a depth.
func (p *reader) skips(depth int, key string) bool {
	return depth == sectionDepth-1 && p.skipped != nil && p.skipped(p.section, key)
}

// outline finds the elements of a list.
func (p *reader) outline(column int) tree.Node {
	n := tree.Node{Kind: tree.List, Start: int32(p.at)}
	mark := len(p.nodes)
	for !p.unknown && p.column == column && p.dash() {
		item := tree.Node{Kind: tree.Unread, Start: int32(p.at)}
		p.skipLine()
		for p.line() && p.column > column {
			p.skipLine()
		}
		item.End = int32(p.at - max(p.column, 0))
		p.push(item)
	}
	n.Items = p.takeNodes(mark)
	n.End = lastEnd(&n)
	return n
}

// Item reads an Unread node of an outline. It returns nil if it cannot. The nodes are in the arena, if there is one.
func Item(text []byte, unread *tree.Node, arena *Arena) *tree.Node {
	p := &reader{Arena: arena, text: sharing(text[:unread.End])}
	if arena == nil {
		p.Arena = spare.Get().(*Arena)
		defer spare.put(p.Arena)
	}
	p.at = int(unread.Start)
	p.column = p.at - (bytes.LastIndexByte(text[:p.at], '\n') + 1)
	n := p.item(p.column, sectionDepth)
	if p.unknown || p.at < len(p.text) {
		return nil
	}
	return &n
}
