package routetest

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/xdslint/xdslint/internal/strict"
	"github.com/xdslint/xdslint/internal/tree"
	"github.com/xdslint/xdslint/internal/walk"
)

var requestNames = strict.Names(reflect.TypeFor[walk.Request]())

// checkKeys rejects the keys of a map that are not among some names.
func (f *File) checkKeys(n *tree.Node, names []string) {
	if n == nil {
		return
	}
	f.reader.Each(n, func(key tree.Key, _ *tree.Node) {
		if !slices.Contains(names, key.Name) {
			f.reader.UnknownKey(key, names)
		}
	})
}

// readRequest reads a request. What it does not say, the other requests of the file share.
func (f *File) readRequest(shared, own *tree.Node) *walk.Request {
	r := &walk.Request{Method: "GET"}
	if own.Kind != tree.Map {
		f.reader.Errorf(own.Span(), "given: got %s, want a map with the fields of a request, a list of those, or all requests to HOST", own.Kind)
		return r
	}
	f.checkKeys(own, requestNames)
	for _, n := range []*tree.Node{shared, own} {
		if n == nil {
			continue
		}
		for i, key := range n.Keys {
			if slices.Contains(requestNames, key.Name) {
				f.setField(r, key.Name, &n.Items[i])
			}
		}
	}
	return r
}

// setField sets a field of a request from its value.
func (f *File) setField(r *walk.Request, name string, n *tree.Node) {
	value := plain(n)
	switch {
	case name == "headers" && n.Kind == tree.Map:
		value = f.headerList(n)
	case name == "http" && n.Kind == tree.Number:
		value = n.Text
	}
	text, err := json.Marshal(map[string]any{name: value})
	if err == nil {
		err = strict.JSON(text, r)
	}
	if err != nil {
		f.reader.Errorf(n.Span(), "%s: %s", name, strings.TrimPrefix(err.Error(), name+": "))
	}
}

// headerList makes a list of pairs of a map: a header can have several values.
func (f *File) headerList(n *tree.Node) any {
	list := []any{}
	for i, key := range n.Keys {
		values := []tree.Node{n.Items[i]}
		if n.Items[i].Kind == tree.List {
			values = n.Items[i].Items
		}
		for _, value := range values {
			if value.Kind == tree.Map || value.Kind == tree.List || value.Kind == tree.Null {
				f.reader.Errorf(value.Span(), "headers: got %s, want a text", value.Kind)
			}
			list = append(list, []any{key.Name, value.Text})
		}
	}
	return list
}

// plain returns a value as package json knows it.
func plain(n *tree.Node) any {
	switch n.Kind {
	case tree.Null:
		return nil
	case tree.Bool:
		return n.Text == "true"
	case tree.Number:
		return json.Number(n.Text)
	case tree.List:
		list := []any{}
		for i := range n.Items {
			list = append(list, plain(&n.Items[i]))
		}
		return list
	case tree.Map:
		all := map[string]any{}
		for i, key := range n.Keys {
			all[key.Name] = plain(&n.Items[i])
		}
		return all
	}
	return n.Text
}
