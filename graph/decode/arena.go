package decode

// arena cuts the lists of Nodes and Keys out of larger pieces. Children are pushed while they are read, and taken off when
// their number is known.
type arena struct {
	nodes, freeNodes []Node
	keys, freeKeys   []Key
}

const chunk = 1024

// takeNodes takes off the nodes from mark on.
func (a *arena) takeNodes(mark int) []Node {
	n := len(a.nodes) - mark
	if n == 0 {
		return nil
	}
	if n > len(a.freeNodes) {
		a.freeNodes = make([]Node, max(n, chunk))
	}
	taken := a.freeNodes[:n:n]
	a.freeNodes = a.freeNodes[n:]
	copy(taken, a.nodes[mark:])
	clear(a.nodes[mark:])
	a.nodes = a.nodes[:mark]
	return taken
}

// takeKeys takes off the keys from mark on.
func (a *arena) takeKeys(mark int) []Key {
	n := len(a.keys) - mark
	if n == 0 {
		return nil
	}
	if n > len(a.freeKeys) {
		a.freeKeys = make([]Key, max(n, chunk))
	}
	taken := a.freeKeys[:n:n]
	a.freeKeys = a.freeKeys[n:]
	copy(taken, a.keys[mark:])
	a.keys = a.keys[:mark]
	return taken
}
