package re2

import (
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A mark is put in front of every alternative but the first: it keeps Go's parser from factoring alternations, which RE2
// does in another order. Another one stands for \C, which Go does not know.
const (
	mark     = "__alternative_"
	byteMark = "__byte_"
)

func isMark(re *syntax.Regexp) bool {
	return re.Op == syntax.OpCapture && strings.HasPrefix(re.Name, mark)
}

// groupOf returns the group in the mark of an alternative, or "" for the first alternative.
func groupOf(re *syntax.Regexp) string {
	for re.Op == syntax.OpConcat {
		re = re.Sub[0]
	}
	if !isMark(re) {
		return ""
	}
	group, _, _ := strings.Cut(strings.TrimPrefix(re.Name, mark), "_")
	return group
}

// stand plus a byte replaces a character of Latin-1 that is not ASCII while Go's parser reads an expression: Go would fold
// the case of é, and RE2 does not.
const stand = 0xe000

// markUp changes an expression so that Go's parser accepts it, and so that convert can tell from the tree what RE2
// would do.
func (c Charset) markUp(s string) string {
	if c == Latin1 {
		s = standIns(s)
	}
	if !strings.Contains(s, "|") && !strings.Contains(s, `\C`) {
		return s
	}
	var out strings.Builder
	count := 0
	groups := []int{0} // those that are open
	tokens(s, func(token string, inClass bool) {
		count++
		switch {
		case inClass:
			out.WriteString(token)
		case token == "(":
			groups = append(groups, count)
			out.WriteString(token)
		case token == ")" && len(groups) > 1:
			groups = groups[:len(groups)-1]
			out.WriteString(token)
		case token == "|":
			fmt.Fprintf(&out, "|(?P<%s%d_%d>)", mark, groups[len(groups)-1], count)
		case token == `\C`:
			fmt.Fprintf(&out, "(?P<%s%d>)", byteMark, count)
		default:
			out.WriteString(token)
		}
	})
	return out.String()
}

func standIns(s string) string {
	if isASCII(s) && !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	tokens(s, func(token string, inClass bool) {
		if r, ok := escaped(token); ok && r > unicode.MaxASCII && r <= unicode.MaxLatin1 {
			fmt.Fprintf(&out, `\x{%x}`, stand+r)
			return
		}
		if ranges, ok := unicodeClass(token); ok {
			if !inClass {
				ranges = "[" + ranges + "]"
			}
			out.WriteString(ranges)
			return
		}
		for i := range len(token) {
			if token[i] < utf8.RuneSelf {
				out.WriteByte(token[i])
			} else {
				out.WriteRune(stand + rune(token[i]))
			}
		}
	})
	return out.String()
}

// escaped returns the character that a numeric escape means.
func escaped(token string) (r rune, ok bool) {
	if len(token) < 3 || token[0] != '\\' {
		return 0, false
	}
	digits, base := token[1:], 8
	if token[1] == 'x' {
		digits, base = strings.TrimSuffix(strings.TrimPrefix(token[2:], "{"), "}"), 16
	}
	n, err := strconv.ParseUint(digits, base, 31)
	return rune(n), err == nil
}

// unicodeClass expands \p{…} to its characters in Latin-1. It adds a character that no charset has, so that the class
// is never empty.
func unicodeClass(token string) (ranges string, ok bool) {
	if !strings.HasPrefix(token, `\p`) && !strings.HasPrefix(token, `\P`) {
		return "", false
	}
	re, err := syntax.Parse(token, syntax.Perl)
	if err != nil || re.Op != syntax.OpCharClass {
		return "", false
	}
	ranges = fmt.Sprintf(`\x{%x}-\x{%x}`, 2*stand-2, 2*stand-1)
	for i := 0; i < len(re.Rune); i += 2 {
		lo, hi := re.Rune[i], min(re.Rune[i+1], unicode.MaxLatin1)
		if lo <= unicode.MaxASCII {
			ranges += fmt.Sprintf(`\x{%x}-\x{%x}`, lo, min(hi, unicode.MaxASCII))
		}
		if lo = max(lo, unicode.MaxASCII+1); lo <= hi {
			ranges += fmt.Sprintf(`\x{%x}-\x{%x}`, stand+lo, stand+hi)
		}
	}
	return ranges, true
}

// tokens splits an expression into escapes, quotations and single characters.
func tokens(s string, f func(token string, inClass bool)) {
	inClass := false
	for s != "" {
		n := tokenLength(s, inClass)
		token := s[:n]
		f(token, inClass)
		s = s[n:]
		switch {
		case inClass:
			inClass = token != "]"
		case strings.HasPrefix(token, "["):
			inClass = true
		}
	}
}

func tokenLength(s string, inClass bool) int {
	switch {
	case strings.HasPrefix(s, `\Q`) && !inClass:
		return upTo(s, `\E`, len(s))
	case strings.HasPrefix(s, `\x{`), strings.HasPrefix(s, `\p{`), strings.HasPrefix(s, `\P{`):
		return upTo(s, "}", 1)
	case strings.HasPrefix(s, `\x`), strings.HasPrefix(s, `\p`), strings.HasPrefix(s, `\P`):
		return min(len(s), map[byte]int{'x': 4, 'p': 3, 'P': 3}[s[1]])
	case s[0] == '\\' && len(s) > 1:
		n := 2
		for n < 4 && n < len(s) && isOctal(s[1]) && isOctal(s[n]) {
			n++
		}
		return n
	case inClass && strings.HasPrefix(s, "[:"):
		return upTo(s, ":]", 1)
	case s[0] == '[' && !inClass: // a ] that comes first is a character
		return 1 + len(s[1:]) - len(strings.TrimPrefix(strings.TrimPrefix(s[1:], "^"), "]"))
	}
	return 1
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

// upTo returns the offset behind the first end, or otherwise if there is none.
func upTo(s, end string, otherwise int) int {
	if i := strings.Index(s, end); i >= 0 {
		return i + len(end)
	}
	return otherwise
}
