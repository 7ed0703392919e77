package syntax

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax/fastyaml"
	"github.com/xdslint/xdslint/internal/tree"
)

// Error says where a text stops being YAML, JSON or proto text.
type Error struct {
	Span    source.Span
	Message string
}

func (e *Error) Error() string { return e.Message }

// ParseYAML reads every document of a YAML text. Documents before a broken one are returned with the error.
func ParseYAML(file *source.File) ([]*tree.Node, error) {
	return OutlineYAML(file, nil)
}

// OutlineYAML is ParseYAML, but can leave the elements of some lists unread, for ReadItem; see fastyaml.Outline.
func OutlineYAML(file *source.File, skipped func(section, list string) bool) ([]*tree.Node, error) {
	if !utf8.Valid(file.Text) {
		return nil, invalidUTF8(file.Text)
	}
	if err := tooMany(file.Text, ",\n"); err != nil {
		return nil, err
	}
	if doc := fastyaml.Outline(file.Text, skipped); doc != nil {
		return []*tree.Node{doc}, nil
	}
	if skipped != nil { // the lines of a map in brackets can end an item of an outline too early
		return ParseYAML(file)
	}
	return parseYAML(file)
}

// Arena is where ReadItem puts values.
type Arena = fastyaml.Arena

// ReadItem reads an Unread node of an outline, or returns nil if the text is not plain enough. The values are in the
// arena, if there is one.
func ReadItem(file *source.File, unread *tree.Node, arena *Arena) *tree.Node {
	return fastyaml.Item(file.Text, unread, arena)
}

// parseYAML reads a text with the library, and again without what only the library rejects.
func parseYAML(file *source.File) ([]*tree.Node, error) {
	copied := newBlanked(file)
	docs, err := copied.load()
	firstDocs, first := docs, copied.syntaxError(err)
	for budget := max(maxReread, 4*len(file.Text)); budget > 0; budget -= len(file.Text) {
		var fault *yaml.LoadError
		if !errors.As(err, &fault) || !copied.blank(fault) {
			break
		}
		docs, err = copied.load()
	}
	if err == nil && len(copied.unseen) > 0 {
		return firstDocs, first
	}
	if err != nil && copied.tab != nil { // it may have been the reason
		return docs, copied.tab
	}
	return docs, copied.syntaxError(err)
}

// load reads every document with the library. Documents before a broken one are returned with the error.
func (b *blanked) load() ([]*tree.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(b.text), yaml.WithV4Defaults())
	if err != nil {
		return nil, err
	}
	b.unseen = maps.Clone(b.joined)
	c := &converter{lines: b.lines, text: b.file.Text, anchors: map[*yaml.Node]*tree.Node{}, joined: b.unseen}
	c.budget = aliasBudget(len(c.text))
	var docs []*tree.Node
	for {
		var doc yaml.Node
		err := loader.Load(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, err
		}
		node := new(tree.Node)
		if len(doc.Content) > 0 {
			c.object = isObject(doc.Content[0])
			c.convert(doc.Content[0], node)
		}
		if c.fault != nil {
			return docs, c.fault
		}
		if c.budget < 0 {
			return docs, &Error{Message: "aliases expand this text to more values than it has bytes (an alias bomb?)"}
		}
		docs = append(docs, node)
	}
}

// asVersion11 changes the version in a YAML 1.x text to one that the parser accepts. The parser accepts only 1.1. Envoy's reader treats all versions
// alike.
func asVersion11(text []byte) []byte {
	if !bytes.Contains(text, []byte("%YAML 1.")) {
		return text
	}
	return versionDirective().ReplaceAll(text, []byte("${1}1"))
}

var versionDirective = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(%YAML 1\.)\d\b`) })

// aliasBudget bounds how many values aliases may expand a text to. In what people write, a value takes ten bytes, so an
// alias can repeat all of it ten times. There is nothing for small texts: many of them make a large input.
func aliasBudget(size int) int { return size }

// maxValues limits the number of values in a text. Each takes some 100 bytes of memory, in YAML three times as much.
const maxValues = 10_000_000

// tooMany returns an error if a text may hold too many values. It counts separators, since every further value needs one.
func tooMany(text []byte, separators string) error {
	count := 0
	for i := range separators {
		count += bytes.Count(text, []byte(separators[i:i+1]))
	}
	if count <= maxValues {
		return nil
	}
	return &Error{Message: fmt.Sprintf("this text may hold %d values: the limit is %d", count, maxValues)}
}

func invalidUTF8(text []byte) error {
	at := 0
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return &Error{Span: source.Span{Start: at, End: at + 1}, Message: "the text is not valid UTF-8"}
}

// converter converts yaml.Nodes to Nodes, and adds the ends that yaml.Nodes do not have.
type converter struct {
	lines   *yamlLines
	text    []byte
	anchors map[*yaml.Node]*tree.Node
	bound   int // how many anchors are open
	budget  int
	object  bool         // an object of Kubernetes, which yaml-cpp does not read
	indent  int          // that the further lines of a plain scalar have at least; 0: not known, or none, between brackets
	joined  map[int]bool // where values begin that blanked.join moved, and that were not seen yet
	fault   *Error       // what the YAML parser takes, and Envoy does not
}

func (c *converter) convert(y *yaml.Node, n *tree.Node) {
	if len(c.joined) > 0 {
		delete(c.joined, c.lines.offset(y.Line, y.Column))
	}
	if y.Kind == yaml.AliasNode {
		c.alias(y, n)
		return
	}
	n.Start = int32(c.begin(y))
	if y.Anchor != "" {
		c.bound++
		defer func() { c.bound-- }()
	}
	n.Bound = c.bound > 0 || y.Style&yaml.TaggedStyle != 0
	switch y.Kind {
	case yaml.ScalarNode:
		c.scalar(y, n)
	case yaml.SequenceNode:
		n.Kind = tree.List
		n.Items = make([]tree.Node, len(y.Content))
		defer c.enter(y)()
		for i, item := range y.Content {
			c.convert(item, &n.Items[i])
		}
		n.End = c.collectionEnd(y, n)
	case yaml.MappingNode:
		n.Kind = tree.Map
		defer c.enter(y)()
		c.entries(y, n)
		n.End = c.collectionEnd(y, n)
	}
	c.budget--
	if y.Anchor != "" {
		c.anchors[y] = n
	}
}

// alias repeats the anchored node. Its items are shared, so a bomb of aliases costs budget but no memory.
func (c *converter) alias(y *yaml.Node, n *tree.Node) {
	anchored := c.anchors[y.Alias]
	if anchored == nil { // an anchor that contains its own alias
		n.Start = int32(c.begin(y))
		n.End, n.Bound = n.Start, true
		return
	}
	c.budget -= size(anchored, c.budget)
	*n = *anchored
}

// perValue is the length of a text that counts as a further value: findings repeat names.
const perValue = 16

// size counts the values below n, hardly more than limit.
func size(n *tree.Node, limit int) int {
	count := 1 + len(n.Text)/perValue
	for i := range n.Keys {
		count += len(n.Keys[i].Name) / perValue
	}
	for i := range n.Items {
		if count > limit {
			break
		}
		count += size(&n.Items[i], limit-count)
	}
	return count
}

func (c *converter) entries(y *yaml.Node, n *tree.Node) {
	n.Keys = make([]tree.Key, 0, len(y.Content)/2)
	n.Items = make([]tree.Node, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key := y.Content[i]
		if key.Tag == "!ignore" { // Envoy drops such entries (yaml_utility.cc, parseYamlNode)
			continue
		}
		if key.Kind == yaml.AliasNode && key.Alias != nil {
			key = key.Alias
		}
		start := c.begin(y.Content[i])
		if key.Kind != yaml.ScalarNode && c.fault == nil {
			c.fault = &Error{Span: source.Span{Start: start, End: start + 1}, Message: "a list or a map cannot be the key of an entry"}
		}
		n.Keys = append(n.Keys, tree.Key{Name: key.Value, Start: int32(start), End: int32(c.scalarEnd(y.Content[i], start))})
		n.Items = append(n.Items, tree.Node{})
		c.convert(y.Content[i+1], &n.Items[len(n.Items)-1])
	}
}

// scalar types a plain scalar as Envoy does (parseYamlNode): yaml-cpp's booleans and integers, the rest is a string.
func (c *converter) scalar(y *yaml.Node, n *tree.Node) {
	n.Kind, n.Text = tree.String, y.Value
	n.End = int32(c.scalarEnd(y, int(n.Start)))
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if y.Style&quoted != 0 && y.Style&yaml.TaggedStyle == 0 || y.Tag == "!" { // yaml-cpp gives both the tag "!"
		return
	}
	if y.Style&quoted == 0 && y.Value != "" {
		c.checkTabs(int(n.Start))
	}
	word := tree.Word(y.Value)
	if word.Kind == tree.Null && y.Style&yaml.TaggedStyle != 0 { // a value with a tag is never null
		return
	}
	n.Kind, n.Text, n.Plain = word.Kind, word.Text, y.Style&quoted == 0
}
