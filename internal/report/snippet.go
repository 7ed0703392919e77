package report

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxCells = 120 // of a line that is shown
	lead     = 40  // cells kept before the caret where a line is cut
	tab      = "    "
)

// snippets prepares lines for a terminal. Its memory serves all of them.
type snippets struct{ cells []string }

// of prepares a line. Tabs become spaces, and characters that would move the cursor become
// replacement characters. A wide line is cut around its bytes [from, to). Carets mark these bytes: `width` cells after
// the first `before` cells.
func (s *snippets) of(line []byte, from, to int) (shown string, before, width int) {
	from = min(max(from, 0), len(line))
	to = min(max(to, from), len(line))
	from, to = trimSpan(line, from, to)
	line, from, to, behind, ahead := window(line, from, to)

	fromCell, toCell := s.layout(line, from, to)
	cells := s.cells
	if len(cells) <= maxCells && !behind && !ahead {
		return strings.TrimRight(strings.Join(cells, ""), " "), fromCell, max(toCell-fromCell, 1)
	}
	first := 0
	if fromCell > lead {
		first = fromCell - lead
		if !ahead {
			first = min(first, len(cells)-maxCells)
		}
		first = max(first, 0)
	}
	last := min(first+maxCells, len(cells))
	shown = strings.Join(cells[first:last], "")
	before, toCell = fromCell-first, min(toCell, last)
	if first > 0 || behind {
		shown, before = "… "+shown, before+2
	}
	if last < len(cells) || ahead {
		shown += " …"
	}
	return shown, before, max(toCell-fromCell, 1)
}

// window returns the part of a very long line around a span, and whether there is more behind and ahead of it. It has
// as many runes on each side as are shown.
func window(line []byte, from, to int) (part []byte, _, _ int, behind, ahead bool) {
	const long = 1000
	start, end := 0, len(line)
	if from > long {
		start = from
		for range maxCells {
			_, size := utf8.DecodeLastRune(line[:start])
			start -= size
		}
	}
	if end-from > long {
		end = from
		for range maxCells {
			_, size := utf8.DecodeRune(line[end:])
			end += size
		}
	}
	return line[start:end], from - start, min(to, end) - start, start > 0, end < len(line)
}

// trimSpan removes white space from the end of a span. A span of several lines ends in its first line.
func trimSpan(line []byte, from, to int) (int, int) {
	for to > from && (line[to-1] == ' ' || line[to-1] == '\t' || line[to-1] == '\r') {
		to--
	}
	return from, to
}

// layout makes the terminal cells of a line. The second cell of a wide rune is empty.
func (s *snippets) layout(line []byte, from, to int) (fromCell, toCell int) {
	cells := s.cells[:0]
	for i := 0; i <= len(line); {
		if i == from {
			fromCell = len(cells)
		}
		if i == to {
			toCell = len(cells)
		}
		if i == len(line) {
			break
		}
		r, size := utf8.DecodeRune(line[i:])
		switch {
		case r == '\t':
			for _, c := range tab {
				cells = append(cells, string(c))
			}
		case r == utf8.RuneError, !unicode.IsPrint(r) && !unicode.Is(unicode.Mn, r):
			cells = append(cells, "\uFFFD")
		case unicode.Is(unicode.Mn, r) && len(cells) > 0:
			cells[len(cells)-1] += string(r)
		case wide(r):
			cells = append(cells, string(r), "")
		default:
			cells = append(cells, string(r))
		}
		i += size
	}
	s.cells = cells
	return fromCell, toCell
}

// wide reports whether a rune takes two cells: East Asian scripts and emoji do.
func wide(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x115F, 0x2E80 <= r && r <= 0xA4CF, 0xAC00 <= r && r <= 0xD7A3, 0xF900 <= r && r <= 0xFAFF,
		0xFE30 <= r && r <= 0xFE6F, 0xFF00 <= r && r <= 0xFF60, 0xFFE0 <= r && r <= 0xFFE6,
		0x1F300 <= r && r <= 0x1F64F, 0x1F680 <= r && r <= 0x1F6FF, 0x1F900 <= r && r <= 0x1F9FF, 0x20000 <= r && r <= 0x3FFFD:
		return true
	}
	return false
}
