package syntax

import (
	"unicode/utf8"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// ParseRecord reads a line of JSON Lines (source.File.Records).
func ParseRecord(file *source.File, line source.Span) (*tree.Node, error) {
	text := file.Text[line.Start:line.End]
	if !utf8.Valid(text) {
		return nil, &Error{Span: line, Message: "this line is not UTF-8"}
	}
	if err := tooMany(text, ","); err != nil {
		return nil, err
	}
	r := &jsonReader{text: file.Text[:line.End], at: line.Start}
	node := new(tree.Node)
	r.value(node, 0)
	if r.space(); r.err == nil && r.at < len(r.text) {
		r.fail("a line has one value")
	}
	if r.err != nil {
		return nil, r.err
	}
	return node, nil
}
