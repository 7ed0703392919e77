package decode

import (
	"bytes"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/xdslint/xdslint/graph/source"
)

// ParseJSON reads one JSON value, or several that follow one another. Envoy's JSON reader takes single quotes, bare keys
// and trailing commas too: a text that only has those faults is read as YAML's flow style.
func ParseJSON(file *source.File) ([]*Node, error) {
	if !utf8.Valid(file.Text) {
		return nil, invalidUTF8(file.Text)
	}
	docs, err := parseJSON(file.Text)
	if err == nil {
		return docs, nil
	}
	if text := bytes.TrimSpace(file.Text); len(text) > 0 && (text[0] == '{' || text[0] == '[') {
		if relaxed, yamlErr := ParseYAML(file); yamlErr == nil && len(relaxed) == 1 {
			return relaxed, nil
		}
	}
	return docs, err
}

func parseJSON(text []byte) ([]*Node, error) {
	r := &jsonReader{text: text, Decoder: jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))}
	var docs []*Node
	for {
		node := new(Node)
		err := r.value(node)
		if errors.Is(err, io.EOF) {
			return docs, nil
		}
		if err != nil {
			at := int(r.InputOffset())
			var syntax *jsontext.SyntacticError
			if errors.As(err, &syntax) {
				at, err = int(syntax.ByteOffset), syntax.Err
			}
			return docs, &SyntaxError{Span: source.Span{Start: at, End: at}, Message: err.Error()}
		}
		docs = append(docs, node)
	}
}

type jsonReader struct {
	*jsontext.Decoder
	text []byte
}

// next reads a token and tells where it stands.
func (r *jsonReader) next() (jsontext.Token, int32, int32, error) {
	start := int(r.InputOffset())
	for start < len(r.text) && bytes.IndexByte([]byte(" \t\r\n,:"), r.text[start]) >= 0 {
		start++
	}
	token, err := r.ReadToken()
	return token, int32(start), int32(r.InputOffset()), err
}

func (r *jsonReader) value(n *Node) error {
	token, start, end, err := r.next()
	if err != nil {
		return err
	}
	n.start, n.end = start, end
	switch token.Kind() {
	case 'n':
		n.Kind = Null
	case 't', 'f':
		n.Kind, n.Text = Bool, token.String()
	case '0':
		n.Kind, n.Text = Number, token.String()
	case '"':
		n.Kind, n.Text = String, token.String()
	case '[':
		n.Kind = List
		err = r.list(n)
	case '{':
		n.Kind = Map
		err = r.object(n)
	}
	return err
}

func (r *jsonReader) list(n *Node) error {
	for r.PeekKind() != ']' {
		n.Items = append(n.Items, Node{})
		if err := r.value(&n.Items[len(n.Items)-1]); err != nil {
			return err
		}
	}
	return r.close(n)
}

func (r *jsonReader) object(n *Node) error {
	for r.PeekKind() != '}' {
		name, start, end, err := r.next()
		if err != nil {
			return err
		}
		n.Keys = append(n.Keys, Key{Name: name.String(), start: start, end: end})
		n.Items = append(n.Items, Node{})
		if err := r.value(&n.Items[len(n.Items)-1]); err != nil {
			return err
		}
	}
	return r.close(n)
}

func (r *jsonReader) close(n *Node) error {
	_, _, end, err := r.next()
	n.end = end
	return err
}
