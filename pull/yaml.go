package pull

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/xdslint/xdslint/internal/tree"
)

// writeYAML writes a tree as YAML that Envoy's reader (yaml-cpp) and all others read alike: a string is plain only if no reader could take it
// for anything else.
func writeYAML(out *bytes.Buffer, n *tree.Node) {
	w := &yamlWriter{out}
	w.value(n, 0, false)
}

type yamlWriter struct{ *bytes.Buffer }

// value writes a value at a depth. If inline is set, the line has already begun with the "-" of a list.
func (w *yamlWriter) value(n *tree.Node, depth int, inline bool) {
	switch {
	case n.Kind == tree.Map && len(n.Items) > 0:
		for i := range n.Items {
			if i > 0 || !inline {
				w.indent(depth)
			}
			w.WriteString(word(n.Keys[i].Name))
			w.WriteByte(':')
			w.below(&n.Items[i], depth)
		}
	case n.Kind == tree.List && len(n.Items) > 0:
		for i := range n.Items {
			if i > 0 || !inline {
				w.indent(depth)
			}
			w.WriteString("- ")
			w.value(&n.Items[i], depth+1, true)
		}
	default:
		w.scalar(n, depth)
		w.WriteByte('\n')
	}
}

// below writes the value of a key. Lists are indented like the key.
func (w *yamlWriter) below(n *tree.Node, depth int) {
	switch {
	case len(n.Items) == 0:
		w.WriteByte(' ')
		w.scalar(n, depth+1)
		w.WriteByte('\n')
	case n.Kind == tree.List:
		w.WriteByte('\n')
		w.value(n, depth, false)
	default:
		w.WriteByte('\n')
		w.value(n, depth+1, false)
	}
}

func (w *yamlWriter) indent(depth int) { w.WriteString(strings.Repeat("  ", depth)) }

func (w *yamlWriter) scalar(n *tree.Node, depth int) {
	switch n.Kind {
	case tree.Map:
		w.WriteString("{}")
	case tree.List:
		w.WriteString("[]")
	case tree.Null:
		w.WriteString("null")
	case tree.String:
		if isBlock(n.Text) {
			w.block(n.Text, depth)
		} else {
			w.WriteString(word(n.Text))
		}
	default:
		w.WriteString(n.Text)
	}
}

// isBlock reports whether a text of several lines, such as a certificate or a script, can be written as a block.
func isBlock(text string) bool {
	body, ended := strings.CutSuffix(text, "\n")
	if !ended || !strings.Contains(body, "\n") || strings.HasPrefix(body, " ") || strings.HasPrefix(body, "\n") || strings.HasSuffix(body, "\n") {
		return false
	}
	for line := range strings.SplitSeq(body, "\n") {
		if strings.HasSuffix(line, " ") {
			return false
		}
	}
	return strings.IndexFunc(body, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) < 0
}

// block writes the lines of a text without the last line break, which the caller writes.
func (w *yamlWriter) block(text string, depth int) {
	w.WriteString("|")
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		w.WriteByte('\n')
		if line != "" {
			w.indent(depth)
			w.WriteString(line)
		}
	}
}

// word returns a string on one line, quoted if necessary.
func word(text string) string {
	if isBare(text) {
		return text
	}
	var quoted bytes.Buffer
	enc := json.NewEncoder(&quoted)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil { // cannot happen with a string
		return `""`
	}
	return escapes.Replace(strings.TrimSuffix(quoted.String(), "\n"))
}

// escapes replaces characters that JSON allows in strings and YAML does not.
var escapes = strings.NewReplacer("\x7f", `\u007f`, "\u0085", `\u0085`, "\ufeff", `\ufeff`, "\ufffe", `\ufffe`, "\uffff", `\uffff`)

func isBare(text string) bool {
	if text == "" || !tree.IsString(text) || strings.EqualFold(text, "null") {
		return false
	}
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', c == '_', c == '/':
		case i > 0 && ('0' <= c && c <= '9' || c == '.' || c == '-'):
		default:
			return false
		}
	}
	return true
}
