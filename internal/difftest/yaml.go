package difftest

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/xdslint/xdslint/internal/tree"
)

// yaml formats a value as people write YAML: in blocks, with short values on one line. It is exact: it quotes every
// text that could be read as something else.
func (v *value) yaml() string {
	var b strings.Builder
	v.block(&b, "")
	return b.String()
}

const shortLine = 80

func (v *value) block(b *strings.Builder, indent string) {
	if len(v.items) == 0 {
		b.WriteString(indent + v.flow() + "\n")
		return
	}
	for i, item := range v.items {
		b.WriteString(indent)
		inner := indent + "  "
		if v.kind == tree.Map {
			b.WriteString(quoteIfNeeded(v.keys[i]) + ":")
		} else {
			b.WriteString("-")
		}
		switch flow := item.flow(); {
		case len(item.items) == 0 || len(indent)+len(flow) < shortLine && !item.deep():
			b.WriteString(" " + flow + "\n")
		case v.kind == tree.List:
			var nested strings.Builder
			item.block(&nested, inner)
			b.WriteString(" " + strings.TrimPrefix(nested.String(), inner))
		case item.kind == tree.List:
			b.WriteString("\n")
			item.block(b, indent) // as is usual, a list under a key is not indented
		default:
			b.WriteString("\n")
			item.block(b, inner)
		}
	}
}

// deep reports whether a value has three levels of containers, which are hard to read on one line.
func (v *value) deep() bool {
	for _, item := range v.items {
		for _, inner := range item.items {
			if len(inner.items) > 0 {
				return true
			}
		}
	}
	return false
}

func (v *value) flow() string {
	switch v.kind {
	case tree.Null:
		return "null"
	case tree.String:
		return quoteIfNeeded(v.text)
	case tree.List, tree.Map:
	default:
		return v.text
	}
	parts := make([]string, len(v.items))
	for i, item := range v.items {
		parts[i] = item.flow()
		if v.kind == tree.Map {
			parts[i] = quoteIfNeeded(v.keys[i]) + ": " + parts[i]
		}
	}
	if v.kind == tree.Map {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

var (
	// Starting with a letter or slash, or a duration: no reader takes these for a number.
	plain = regexp.MustCompile(`^([A-Za-z_/][\w./-]*( [\w./-]+)*|[0-9]+(\.[0-9]+)?s)$`)
	// Words that some reader takes for a boolean, null or a number.
	words = regexp.MustCompile(`^(?i:y|n|yes|no|on|off|true|false|null|inf|nan|infinity)$`)
)

func quoteIfNeeded(s string) string {
	if plain.MatchString(s) && !words.MatchString(s) {
		return s
	}
	return quote(s)
}

// quote returns a double-quoted string with escapes that both YAML and JSON have.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r == 0xfeff || r == 0xfffd:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
