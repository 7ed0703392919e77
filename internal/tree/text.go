package tree

import (
	"sync"
	"weak"

	"github.com/xdslint/xdslint/internal/source"
)

// Text is the part of a file that a resource was decoded from. The values of a large file take several times as much
// memory as the file. Few of them are asked for later, where there are findings: they are read again then.
type Text struct {
	root func() *Node
	span source.Span // zero: that of the root
}

// again reads values when they are asked for. As long as something looks at them, they are not read again.
type again struct {
	read func() *Node
	mu   sync.Mutex
	last weak.Pointer[Node]
}

func (a *again) root() *Node {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.last.Value()
	if n == nil {
		n = a.read()
		a.last = weak.Make(n)
	}
	return n
}

// TextOf returns the Text of values that stay in memory, or nil for nil.
func TextOf(n *Node) *Text {
	if n == nil {
		return nil
	}
	return &Text{root: func() *Node { return n }}
}

// TextLater returns the Text of values that read returns. It is called at most once.
func TextLater(read func() *Node) *Text { return &Text{root: sync.OnceValue(read)} }

// TextAt returns the Text of values whose place is known. They are read whenever they are needed, and not kept.
func TextAt(span source.Span, read func() *Node) *Text {
	return &Text{root: (&again{read: read}).root, span: span}
}

// Root returns the outermost value, or nil if there is no text.
func (t *Text) Root() *Node {
	if t == nil {
		return nil
	}
	return t.root()
}

// Begin returns where a text that can move in its file begins, and 0 for any other one.
func Begin(t *Text) int {
	if t == nil {
		return 0
	}
	return t.span.Start
}

// Span returns where the text is in its file.
func (t *Text) Span() source.Span {
	if t.span.IsZero() {
		return t.root().Span()
	}
	return t.span
}
