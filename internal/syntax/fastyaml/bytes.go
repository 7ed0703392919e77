package fastyaml

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// plainBytes reports whether a text has no control characters, tabs, carriage returns, byte order mark or line breaks of
// Unicode.
func plainBytes(text []byte) bool {
	ascii := true
	for i := 0; i < len(text); i++ {
		if i+8 <= len(text) && printable(binary.LittleEndian.Uint64(text[i:])) {
			i += 7
			continue
		}
		switch c := text[i]; {
		case c >= ' ' && c < 0x7f, c == '\n':
		case c < 0x80:
			return false
		case c == 0xc2 && i+1 < len(text) && text[i+1] < 0xa0: // U+0080 … U+009F
			return false
		default:
			ascii = false
		}
	}
	return ascii || !bytes.Contains(text, []byte("\u2028")) && !bytes.Contains(text, []byte("\u2029")) && !bytes.Contains(text, []byte("\ufeff"))
}

// printable reports whether eight bytes are printable ASCII or line feeds. It computes with all of them at once: the highest bit of each byte
// is the answer about it.
func printable(word uint64) bool {
	const (
		each    = 0x0101010101010101
		highest = 0x80 * each
		low     = 0x7f * each
	)
	seven := word & low
	control := ^(seven + (0x80-' ')*each)
	other := (word ^ '\n'*each) & low
	feed := ^(other + low)
	del := seven + each
	return (word|control&^feed|del)&highest == 0
}

// eightSpaces is as much indentation as is skipped at once.
const eightSpaces = "        "

func (p *reader) skipSpaces() {
	for strings.HasPrefix(p.text[p.at:], eightSpaces) {
		p.at += len(eightSpaces)
	}
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
}
