package fastyaml

import "github.com/xdslint/xdslint/internal/tree"

// arena allocates the lists of Nodes and Keys from larger pieces. Children are pushed while they are read, and taken
// when their number is known.
type arena struct {
	nodes, freeNodes []tree.Node
	keys, freeKeys   []tree.Key
}

const chunk = 1024

// takeNodes removes and returns the nodes from mark on.
func (a *arena) takeNodes(mark int) []tree.Node {
	n := len(a.nodes) - mark
	if n == 0 {
		return nil
	}
	if n > len(a.freeNodes) {
		a.freeNodes = make([]tree.Node, max(n, chunk))
	}
	taken := a.freeNodes[:n:n]
	a.freeNodes = a.freeNodes[n:]
	copy(taken, a.nodes[mark:])
	clear(a.nodes[mark:])
	a.nodes = a.nodes[:mark]
	return taken
}

// takeKeys removes and returns the keys from mark on.
func (a *arena) takeKeys(mark int) []tree.Key {
	n := len(a.keys) - mark
	if n == 0 {
		return nil
	}
	if n > len(a.freeKeys) {
		a.freeKeys = make([]tree.Key, max(n, chunk))
	}
	taken := a.freeKeys[:n:n]
	a.freeKeys = a.freeKeys[n:]
	copy(taken, a.keys[mark:])
	a.keys = a.keys[:mark]
	return taken
}
