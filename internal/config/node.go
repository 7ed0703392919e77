package config

import (
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// node adds lookups to the tree of a text.
type node struct{ *tree.Node }

// at returns the span of element i of a key's list; with -1, of the value.
func (n *node) at(key string, i int) source.Span {
	value := n.Get(key)
	if value == nil {
		return n.Span()
	}
	if i >= 0 && i < len(value.Items) {
		return value.Items[i].Span()
	}
	return value.Span()
}

// entry returns the span of the value of a key in a map.
func (n *node) entry(name, key string) source.Span {
	inner := node{n.Get(name)}
	return inner.at(key, -1)
}

// key returns the span of a key in a map.
func (n *node) key(name, key string) source.Span {
	if k := n.Get(name).Key(key); k != nil {
		return k.Span()
	}
	return n.at(name, -1)
}
