package fastyaml

import (
	"slices"
	"sync"

	"github.com/xdslint/xdslint/internal/tree"
)

// Arena allocates the lists of Nodes and Keys from larger pieces. Children are pushed while they are read, and taken
// when their number is known.
type Arena struct {
	nodes []tree.Node
	keys  []tree.Key

	nodePieces pieces[tree.Node]
	keyPieces  pieces[tree.Key]
}

// Reset makes room for the next text. Nothing may use the nodes of the last one any more.
func (a *Arena) Reset() {
	a.nodes, a.keys = a.nodes[:0], a.keys[:0]
	a.nodePieces.free, a.keyPieces.free = a.nodePieces.last, a.keyPieces.last
}

// spare are arenas without pieces: what is read by itself takes the memory for its values only.
var spare = spares{sync.Pool{New: func() any { return new(Arena) }}}

type spares struct{ sync.Pool }

func (s *spares) put(a *Arena) {
	a.nodePieces, a.keyPieces = pieces[tree.Node]{}, pieces[tree.Key]{}
	a.nodes, a.keys = a.nodes[:0], a.keys[:0]
	s.Put(a)
}

// push adds a node. The list grows to twice its size, more than append would make it grow: some lists have tens of thousands.
func (a *Arena) push(n tree.Node) {
	if len(a.nodes) == cap(a.nodes) {
		a.nodes = slices.Grow(a.nodes, max(len(a.nodes), 64))
	}
	a.nodes = append(a.nodes, n)
}

// takeNodes removes and returns the nodes from mark on.
func (a *Arena) takeNodes(mark int) []tree.Node {
	taken := a.nodePieces.copyOf(a.nodes[mark:])
	clear(a.nodes[mark:])
	a.nodes = a.nodes[:mark]
	return taken
}

// takeKeys removes and returns the keys from mark on.
func (a *Arena) takeKeys(mark int) []tree.Key {
	taken := a.keyPieces.copyOf(a.keys[mark:])
	a.keys = a.keys[:mark]
	return taken
}

type pieces[T any] struct {
	last []T // the last piece
	free []T // the rest of it
}

// Pieces double in size: one element of a list takes little, and a large file few pieces.
const (
	firstPiece   = 16
	largestPiece = 1024
)

func (p *pieces[T]) copyOf(list []T) []T {
	n := len(list)
	if n == 0 {
		return nil
	}
	if n > len(p.free) {
		p.last = make([]T, max(n, firstPiece, min(2*len(p.last), largestPiece)))
		p.free = p.last
	}
	taken := p.free[:n:n]
	p.free = p.free[n:]
	copy(taken, list)
	return taken
}
