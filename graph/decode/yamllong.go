package decode

import (
	"bytes"
	"runtime"
	"sync"

	"github.com/xdslint/xdslint/graph/source"
)

// A long YAML text is mostly a block list or two with thousands of items. parseLong takes the items behind the first out of
// such lists, reads what is left as one text and the items in pieces, side by side, and puts them back. That halves the
// time on two cores, and the parser's own tree, which is many times the size of ours, never stands in memory as a whole.

const (
	longText  = 1 << 20 // bytes from which it pays
	longList  = 64      // items
	pieceSize = 1 << 18 // bytes, about
)

// longRun is a run of lines that looks like one long block list.
type longRun struct {
	indent int
	items  []int // where the lines with the dashes start
	end    int
}

// parseLong returns false where the text does not read as it looks (a list inside a block scalar, an anchor used across
// items, a broken item): then it has to be read as a whole.
func parseLong(file *source.File) ([]*Node, bool) {
	lists := longRuns(file.Text)
	if len(lists) == 0 {
		return nil, false
	}
	var rest []byte
	at := 0
	for _, l := range lists {
		rest = append(rest, file.Text[at:l.items[1]]...)
		at = l.end
	}
	rest = append(rest, file.Text[at:]...)
	docs, err := parseYAML(&source.File{Text: rest})
	if err != nil {
		return nil, false
	}
	stubs := map[int32]*longRun{}
	for _, l := range lists {
		stubs[int32(l.items[0]+l.indent)] = l
	}
	for _, doc := range docs {
		if !putBack(doc, lists, stubs, file.Text) {
			return nil, false
		}
	}
	return docs, len(stubs) == 0
}

// putBack moves a node to where it stands in the whole text, and gives the lists that were cut short their items again.
func putBack(n *Node, lists []*longRun, stubs map[int32]*longRun, text []byte) bool {
	n.start, n.end = moved(n.start, lists), moved(n.end, lists)
	for i := range n.Keys {
		n.Keys[i].start, n.Keys[i].end = moved(n.Keys[i].start, lists), moved(n.Keys[i].end, lists)
	}
	for i := range n.Items {
		if !putBack(&n.Items[i], lists, stubs, text) {
			return false
		}
	}
	if l := stubs[n.start]; l != nil && n.Kind == List && len(n.Items) == 1 {
		delete(stubs, n.start)
		items, ok := l.read(text)
		if !ok {
			return false
		}
		n.Items = append(n.Items, items...)
	}
	for i := range n.Items {
		n.end = max(n.end, n.Items[i].end)
	}
	return true
}

// moved turns an offset in what is left of the text into one in the whole.
func moved(at int32, lists []*longRun) int32 {
	for _, l := range lists {
		if int(at) < l.items[1] {
			break
		}
		at += int32(l.end - l.items[1])
	}
	return at
}

// read parses the list's items behind the first.
func (l *longRun) read(text []byte) ([]Node, bool) {
	type piece struct {
		from, to, items int
		nodes           []Node
	}
	var pieces []*piece
	for i := 1; i < len(l.items); {
		p := &piece{from: l.items[i], to: l.end}
		for i < len(l.items) && l.items[i]-p.from < pieceSize {
			i++
			p.items++
		}
		if i < len(l.items) {
			p.to = l.items[i]
		}
		pieces = append(pieces, p)
	}
	var workers sync.WaitGroup
	next := make(chan *piece)
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for p := range next {
				docs, err := parseYAML(&source.File{Text: text[p.from:p.to]})
				if err == nil && len(docs) == 1 && docs[0].Kind == List && len(docs[0].Items) == p.items {
					p.nodes = docs[0].Items
					for i := range p.nodes {
						p.nodes[i].shift(int32(p.from))
					}
				}
			}
		})
	}
	for _, p := range pieces {
		next <- p
	}
	close(next)
	workers.Wait()
	all := make([]Node, 0, len(l.items)-1)
	for _, p := range pieces {
		if p.nodes == nil {
			return nil, false
		}
		all = append(all, p.nodes...)
	}
	return all, true
}

func (n *Node) shift(by int32) {
	n.start, n.end = n.start+by, n.end+by
	for i := range n.Keys {
		n.Keys[i].start, n.Keys[i].end = n.Keys[i].start+by, n.Keys[i].end+by
	}
	for i := range n.Items {
		n.Items[i].shift(by)
	}
}

// longRuns finds the outermost long lists, by indentation alone.
func longRuns(text []byte) []*longRun {
	var open, found []*longRun
	closeTo := func(indent, at int, dash bool) {
		for len(open) > 0 {
			top := open[len(open)-1]
			if top.indent < indent || top.indent == indent && dash {
				return
			}
			open = open[:len(open)-1]
			top.end = at
			if len(top.items) >= longList && top.end-top.items[0] >= longText/4 {
				for len(found) > 0 && found[len(found)-1].items[0] > top.items[0] {
					found = found[:len(found)-1] // a list inside this one
				}
				found = append(found, top)
			}
		}
	}
	for at := 0; at < len(text); {
		end := bytes.IndexByte(text[at:], '\n') + 1
		if end == 0 {
			end = len(text) - at
		}
		line := text[at : at+end]
		indent := 0
		for indent < len(line) && line[indent] == ' ' {
			indent++
		}
		if body := bytes.TrimSpace(line[indent:]); len(body) > 0 && body[0] != '#' {
			dash := body[0] == '-' && (len(body) == 1 || body[1] == ' ')
			closeTo(indent, at, dash)
			if dash && (len(open) == 0 || open[len(open)-1].indent < indent) {
				open = append(open, &longRun{indent: indent})
			}
			if dash {
				top := open[len(open)-1]
				top.items = append(top.items, at)
			}
		}
		at += end
	}
	closeTo(-1, len(text), false)
	return found
}
