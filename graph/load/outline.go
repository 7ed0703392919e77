package load

import (
	"errors"
	"slices"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// The static resources of a bootstrap are read where they are decoded, by several goroutines, and their values are not
// kept: in a large file they take several times as much memory as messages. Where there are findings, they are read again.

// errNotPlain means that an outline is of no use: its resources must be read with the rest of the text.
var errNotPlain = errors.New("the text is not plain enough for an outline")

// outlined parses a YAML file, if possible without the static resources of a bootstrap.
func outlined(in *input) ([]*graph.TextNode, error) {
	skipped := 0
	docs, err := syntax.OutlineYAML(in.file, func(section, list string) bool {
		isStatic := section == "static_resources" && slices.ContainsFunc(statics, func(s static) bool { return s.field == list })
		if isStatic {
			skipped++
		}
		return isStatic
	})
	if skipped == 0 || len(docs) == 0 {
		return docs, err
	}
	if recognise(docs[0]) != bootstrap || unreadLists(docs[0]) < skipped {
		return syntax.ParseYAML(in.file)
	}
	in.outlined = true
	return docs, err
}

// unreadLists counts the lists of static resources that are decoded and were not read. A list that a later key replaces is not
// decoded, so that it would stay unknown whether it is plain.
func unreadLists(root *graph.TextNode) (n int) {
	_, lists := split(root)
	for _, list := range lists {
		if len(list) > 0 && list[0].Kind == tree.Unread {
			n++
		}
	}
	return n
}

// readWhole reads a text whose outline is of no use.
func (l *loader) readWhole(in *input) {
	in.outlined, in.docs, in.problems, in.objects, in.others, in.as, in.main = false, nil, nil, nil, nil, nothing, 0
	docs, err := syntax.ParseYAML(in.file)
	l.parsed(in, docs, err)
	l.recognise(in)
}

// textOf returns the Text of a value in the file.
func (in *input) textOf(n *graph.TextNode) *graph.Text {
	if !in.outlined {
		return tree.TextOf(n)
	}
	return tree.TextLater(func() *graph.TextNode {
		docs, _ := syntax.ParseYAML(in.file)
		return docs[0]
	})
}

// reader reads parts, one after the other: the Unread nodes of outlines, and their messages.
type reader struct {
	arena   syntax.Arena
	decoder *decode.Decoder
}

func (l *loader) newReader() *reader {
	r := &reader{decoder: decode.NewDecoder(l.types)}
	r.decoder.Ended = func() bool { return l.ctx.Err() != nil }
	return r
}

// read reads the values of a part that is an Unread node. It reports whether its text is plain enough.
func (r *reader) read(p *part) bool {
	unread, file := p.node, p.in.file
	if unread == nil || unread.Kind != tree.Unread {
		return true
	}
	read := func(arena *syntax.Arena) *graph.TextNode { return syntax.ReadItem(file, unread, arena) }
	if p.apart {
		read = func(arena *syntax.Arena) *graph.TextNode { return p.item.read(*unread, arena) }
	}
	if p.node = read(&r.arena); p.node == nil {
		p.notPlain = true
		return false
	}
	p.resource.Text = tree.TextAt(p.node.Span(), func() *graph.TextNode { return read(nil) })
	return true
}

// done forgets the values of a part. If problems keep some, all stay, since findings about the problems look at them.
func (r *reader) done(p *part) {
	if len(p.resource.Problems) > 0 && p.node != nil {
		p.resource.Text = tree.TextOf(p.node)
		r.arena = syntax.Arena{}
	}
	p.node = nil
	r.arena.Reset()
}
