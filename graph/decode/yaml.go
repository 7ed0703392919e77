package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/xdslint/xdslint/graph/source"
)

// SyntaxError says where a text stops being YAML, JSON or proto text.
type SyntaxError struct {
	Span    source.Span
	Message string
}

func (e *SyntaxError) Error() string { return e.Message }

// ParseYAML reads every document of a YAML text. Documents before a broken one are returned with the error.
func ParseYAML(file *source.File) ([]*Node, error) {
	if !utf8.Valid(file.Text) {
		return nil, invalidUTF8(file.Text)
	}
	if err := tooMany(file.Text, ",\n"); err != nil {
		return nil, err
	}
	if doc := parsePlain(file.Text); doc != nil {
		return []*Node{doc}, nil
	}
	return parseYAML(file)
}

func parseYAML(file *source.File) ([]*Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(asVersion11(file.Text)), yaml.WithV4Defaults())
	if err != nil {
		return nil, err
	}
	c := &converter{lines: linesOf(file), text: file.Text, anchors: map[*yaml.Node]*Node{}}
	c.budget = aliasBudget(len(file.Text))
	var docs []*Node
	for {
		var doc yaml.Node
		err := loader.Load(&doc)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			return docs, yamlError(c.lines, err)
		}
		node := new(Node)
		if len(doc.Content) > 0 {
			c.convert(doc.Content[0], node)
		}
		if c.fault != nil {
			return docs, c.fault
		}
		if c.budget < 0 {
			return docs, &SyntaxError{Message: "aliases expand this text to more than 16 times its size plus 1,000,000 values (an alias bomb?)"}
		}
		docs = append(docs, node)
	}
}

// asVersion11 makes a text out of one of YAML 1.x that the parser takes: it knows 1.1 by name alone. Envoy's reader takes all of them alike.
func asVersion11(text []byte) []byte {
	if !bytes.Contains(text, []byte("%YAML 1.")) {
		return text
	}
	return versionDirective().ReplaceAll(text, []byte("${1}1"))
}

var versionDirective = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^(%YAML 1\.)\d\b`) })

// aliasBudget bounds how many values aliases may expand a text to.
func aliasBudget(size int) int { return 1_000_000 + 16*size }

// maxValues bounds how many values a text may hold; each takes some 100 bytes of memory, in YAML three times as much.
const maxValues = 10_000_000

// tooMany counts the bytes without which there is no further value.
func tooMany(text []byte, separators string) error {
	count := 0
	for i := range separators {
		count += bytes.Count(text, []byte(separators[i:i+1]))
	}
	if count <= maxValues {
		return nil
	}
	return &SyntaxError{Message: fmt.Sprintf("this text may hold %d values: the limit is %d", count, maxValues)}
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
	return &SyntaxError{Span: source.Span{Start: at, End: at + 1}, Message: "the text is not valid UTF-8"}
}

func yamlError(lines *yamlLines, err error) error {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return &SyntaxError{Message: err.Error()}
	}
	at := lines.offset(load.Mark.Line, load.Mark.Column)
	return &SyntaxError{Span: source.Span{Start: at, End: at}, Message: load.Message}
}

// converter makes Nodes of yaml.Nodes, and adds what those lack: ends.
type converter struct {
	lines   *yamlLines
	text    []byte
	anchors map[*yaml.Node]*Node
	bound   int // how many anchors are open
	budget  int
	fault   *SyntaxError // what the YAML parser takes, and Envoy does not
}

func (c *converter) convert(y *yaml.Node, n *Node) {
	if y.Kind == yaml.AliasNode {
		c.alias(y, n)
		return
	}
	n.start = int32(c.begin(y))
	if y.Anchor != "" {
		c.bound++
		defer func() { c.bound-- }()
	}
	n.Bound = c.bound > 0 || y.Style&yaml.TaggedStyle != 0
	switch y.Kind {
	case yaml.ScalarNode:
		c.scalar(y, n)
	case yaml.SequenceNode:
		n.Kind = List
		n.Items = make([]Node, len(y.Content))
		for i, item := range y.Content {
			c.convert(item, &n.Items[i])
		}
		n.end = c.collectionEnd(y, n)
	case yaml.MappingNode:
		n.Kind = Map
		c.entries(y, n)
		n.end = c.collectionEnd(y, n)
	}
	c.budget--
	if y.Anchor != "" {
		c.anchors[y] = n
	}
}

// alias repeats the anchored node; what stands below it is shared, so a bomb costs no memory, only budget.
func (c *converter) alias(y *yaml.Node, n *Node) {
	anchored := c.anchors[y.Alias]
	if anchored == nil { // an anchor that contains its own alias
		n.start = int32(c.begin(y))
		n.end, n.Bound = n.start, true
		return
	}
	c.budget -= size(anchored, c.budget)
	*n = *anchored
}

// size counts the values below n, at most limit+1.
func size(n *Node, limit int) int {
	count := 1
	for i := range n.Items {
		if count > limit {
			break
		}
		count += size(&n.Items[i], limit-count)
	}
	return count
}

func (c *converter) entries(y *yaml.Node, n *Node) {
	n.Keys = make([]Key, 0, len(y.Content)/2)
	n.Items = make([]Node, 0, len(y.Content)/2)
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
			c.fault = &SyntaxError{Span: source.Span{Start: start, End: start + 1}, Message: "a list or a map cannot be the key of an entry"}
		}
		n.Keys = append(n.Keys, Key{Name: key.Value, start: int32(start), end: int32(c.scalarEnd(y.Content[i], start))})
		n.Items = append(n.Items, Node{})
		c.convert(y.Content[i+1], &n.Items[len(n.Items)-1])
	}
}

// scalar types a plain scalar as Envoy does (parseYamlNode): yaml-cpp's booleans and integers, the rest is a string.
func (c *converter) scalar(y *yaml.Node, n *Node) {
	n.Kind, n.Text = String, y.Value
	n.end = int32(c.scalarEnd(y, int(n.start)))
	const quoted = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	if y.Style&quoted != 0 && y.Style&yaml.TaggedStyle == 0 || y.Tag == "!" { // yaml-cpp gives both the tag "!"
		return
	}
	n.plain(y.Value)
	n.Plain = y.Style&quoted == 0
}

// plain types a plain scalar.
func (n *Node) plain(text string) {
	n.Kind, n.Text, n.Plain = String, text, true
	switch text {
	case "", "~", "null", "Null", "NULL":
		n.Kind, n.Text = Null, ""
		return
	}
	if b, ok := yamlBool(text); ok {
		n.Kind, n.Text = Bool, strconv.FormatBool(b)
		return
	}
	if i, ok := yamlInt(text); ok {
		n.Text = strconv.FormatInt(i, 10)
		if math.MinInt32 <= i && i <= math.MaxInt32 {
			n.Kind = Number
		}
	}
}

// IsString tells whether a bare word of YAML is a string to Envoy, and this one.
func IsString(word string) bool {
	var n Node
	n.plain(word)
	return n.Kind == String && n.Text == word
}

// yamlBool knows YAML 1.1's words in lower, upper and title case (yaml-cpp, convert.cpp).
func yamlBool(s string) (value, ok bool) {
	if len(s) > 5 || (s != strings.ToLower(s) && s != strings.ToUpper(s) && s[1:] != strings.ToLower(s[1:])) {
		return false, false
	}
	switch strings.ToLower(s) {
	case "y", "yes", "true", "on":
		return true, true
	case "n", "no", "false", "off":
		return false, true
	}
	return false, false
}

// yamlInt reads what C++ streams read without a base: decimal, 0x… and 0… (octal), with a sign.
func yamlInt(s string) (int64, bool) {
	digits := strings.TrimPrefix(strings.TrimPrefix(s, "-"), "+")
	if digits == "" || digits[0] < '0' || digits[0] > '9' || strings.Contains(s, "_") {
		return 0, false
	}
	if len(digits) > 1 && strings.IndexByte("oObB", digits[1]) >= 0 { // Go's prefixes, not C++'s
		return 0, false
	}
	i, err := strconv.ParseInt(s, 0, 64)
	return i, err == nil
}
