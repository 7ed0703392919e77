package load

import (
	"bytes"
	"maps"
	"slices"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/syntax"
	"github.com/xdslint/xdslint/internal/tree"
)

// Earlier is what a load leaves for the next one of the same input, with other texts. Of a bootstrap in plain YAML, a static resource whose text
// is the same is not read again: its resource is moved to its new place, and the new snapshot is made from the one before
// (graph.Snapshot.BuiltAfter). So only the snapshots of the latest load with an Earlier can be used. The zero Earlier is that before the first load.
type Earlier struct {
	boots map[string]*boot // by the names of their files
}

// boot is what is kept of a bootstrap.
type boot struct {
	snapshot *graph.Snapshot
	whole    *graph.Resource
	items    []*item
	ended    bool // with a line break, on which fixes depend
}

// item is a static resource in an outline. What it means depends only on its text, with the indentation of its first line.
type item struct {
	list     string
	text     []byte // in the latest text of the file
	start    int32  // of the outline's node that the resource was read from or moved to last
	resource *graph.Resource
	seen     []decode.Seen
}

// Has reports whether the next load can make a snapshot from this one.
func (e *Earlier) Has(s *graph.Snapshot) bool {
	return slices.ContainsFunc(slices.Collect(maps.Values(e.boots)), func(b *boot) bool { return b.snapshot == s })
}

// forget removes what is kept of files that are not among the inputs any more.
func (e *Earlier) forget(inputs []*input) {
	read := make(map[string]bool, len(inputs))
	for _, in := range inputs {
		read[in.file.Name] = true
	}
	maps.DeleteFunc(e.boots, func(name string, _ *boot) bool { return !read[name] })
}

// earlier returns what to take from and to keep for the next load. It is nil if there is none, and for settings with which little is the same.
func (l *loader) earlier() *Earlier {
	if l.opts.ConfigYAML != "" || l.opts.Types != nil {
		return nil
	}
	return l.opts.Earlier
}

// reuse takes the static resources of an outline from an earlier load.
func (a *assembly) reuse(in *input, static []*part) {
	e := a.earlier()
	if e == nil || !in.outlined {
		return
	}
	static = slices.DeleteFunc(slices.Clone(static), func(p *part) bool { return p.node.Kind != tree.Unread })
	for _, p := range static {
		p.item = itemOf(in.text, p)
	}
	before := e.boots[in.file.Name]
	if before == nil {
		return
	}
	var known []*item
	if before.ended == ended(in.text) {
		known = before.items
	}
	same := match(known, static)
	for i, p := range static {
		if k := same[i]; k != nil && k.resource != nil && a.keepsFiles(k, in) {
			p.takeOver(k)
		} else {
			p.apart = true
		}
	}
}

func ended(text []byte) bool { return bytes.HasSuffix(text, []byte("\n")) }

func itemOf(text []byte, p *part) *item {
	line := bytes.LastIndexByte(text[:p.node.Start], '\n') + 1
	return &item{list: string(p.resource.Kind), text: text[line:p.node.End], start: p.node.Start}
}

func (i *item) is(other *item) bool { return i.list == other.list && bytes.Equal(i.text, other.text) }

// match returns for each part the known item that it is, or nil. It does not match items whose order differs.
func match(known []*item, parts []*part) []*item {
	same := make([]*item, len(parts))
	first, end, knownEnd := 0, len(parts), len(known)
	for ; first < min(end, knownEnd) && known[first].is(parts[first].item); first++ {
		same[first] = known[first]
	}
	for ; first < min(end, knownEnd) && known[knownEnd-1].is(parts[end-1].item); end, knownEnd = end-1, knownEnd-1 {
		same[end-1] = known[knownEnd-1]
	}
	type key struct{ list, text string }
	places := map[key][]int{}
	for i, k := range known[first:knownEnd] {
		places[key{k.list, string(k.text)}] = append(places[key{k.list, string(k.text)}], first+i)
	}
	next := first
	for i := first; i < end; i++ {
		all := places[key{parts[i].item.list, string(parts[i].item.text)}]
		if k, _ := slices.BinarySearch(all, next); k < len(all) {
			same[i], next = known[all[k]], all[k]+1
		}
	}
	return same
}

// takeOver makes a part the resource of a known item, at its new place.
func (p *part) takeOver(k *item) {
	unread, span := *p.node, k.resource.Text.Span()
	by := int(unread.Start - k.start)
	span.Start, span.End = span.Start+by, span.End+by
	k.resource.File, k.resource.Text = p.in.file, tree.TextAt(span, p.item.later(unread))
	k.start = unread.Start // also if this load keeps nothing, because another item is not plain
	p.resource, p.seen, p.message, p.node = k.resource, k.seen, nil, nil
}

// later returns a function that reads the item, so that its values do not keep the text of the file in memory.
func (i *item) later(unread graph.TextNode) func() *graph.TextNode {
	return func() *graph.TextNode { return i.read(unread, nil) }
}

// read reads the item from a copy of its text.
func (i *item) read(unread graph.TextNode, arena *syntax.Arena) *graph.TextNode {
	before := unread.End - int32(len(i.text))
	unread.Start, unread.End = unread.Start-before, unread.End-before
	n := syntax.ReadItem(&graph.SourceFile{Text: bytes.Clone(i.text)}, &unread, arena)
	if n != nil {
		n.Move(func(s graph.Span) graph.Span {
			return graph.Span{Start: s.Start + int(before), End: s.End + int(before)}
		}, false)
	}
	return n
}

// keep keeps a bootstrap for the next load.
func (a *assembly) keep(in *input, whole *part) {
	e := a.earlier()
	if e == nil || !in.outlined {
		return
	}
	kept := &boot{whole: whole.resource, ended: ended(in.text)}
	for _, p := range whole.static {
		if p.item == nil {
			continue
		}
		if p.lasts() {
			p.item.resource, p.item.seen = p.resource, p.seen
		}
		kept.items = append(kept.items, p.item)
	}
	if before := e.boots[in.file.Name]; before != nil {
		kept.snapshot = before.snapshot
		before.release(in.file)
	}
	if e.boots == nil {
		e.boots = map[string]*boot{}
	}
	if a.kept == nil {
		a.kept = map[*graph.Snapshot]*boot{}
	}
	e.boots[in.file.Name], a.kept[a.snapshot] = kept, kept
}

// release takes the text from what the next snapshot does not have, since indices of snapshots may have it for a while.
func (b *boot) release(by *graph.SourceFile) {
	release := func(r *graph.Resource) { r.File, r.Text = &graph.SourceFile{Name: r.File.Name}, nil }
	release(b.whole)
	for _, k := range b.items {
		if k.resource != nil && k.resource.File != by {
			release(k.resource)
		}
	}
}

// lasts reports whether the resource of a part depends only on its text: it does not name a file, and has no problems, which hold places.
func (p *part) lasts() bool {
	return p.resource.Message != nil && len(p.resource.Problems) == 0 && !slices.ContainsFunc(p.seen, func(s decode.Seen) bool {
		cs, ok := s.Message.Interface().(*corev3.ConfigSource)
		if !ok {
			return false
		}
		path, _ := pathOf(cs)
		return path != ""
	})
}

// built returns a snapshot built, from the one before if there is one.
func (l *loader) built(s *graph.Snapshot) *graph.Snapshot {
	kept := l.kept[s]
	if kept == nil {
		s.Build()
		return s
	}
	kept.snapshot = s.BuiltAfter(kept.snapshot)
	return kept.snapshot
}
