// Package re2 determines what RE2, the regular expression library of Envoy, reports about an expression: what is wrong with
// its syntax, and how large the program is that it becomes.
package re2

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Charset is the encoding that RE2 assumes for expressions and texts.
type Charset uint8

const (
	// Latin1 reads every byte as a character. Envoy does so since CVE-2026-73552 was fixed.
	Latin1 Charset = iota
	// UTF8 is what Envoy took before, and takes with the runtime guard re2_use_latin1_mode set to false.
	UTF8
)

func (c Charset) maxRune() rune {
	if c == Latin1 {
		return unicode.MaxLatin1
	}
	return unicode.MaxRune
}

// decode returns the text of an expression in which each byte is a character.
func (c Charset) decode(expression string) string {
	if c == UTF8 || isASCII(expression) {
		return expression
	}
	runes := make([]rune, len(expression))
	for i := range len(expression) {
		runes[i] = rune(expression[i])
	}
	return string(runes)
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// clip returns the parts of ranges that the charset has.
func (c Charset) clip(pairs []rune) (clipped []rune) {
	if c == UTF8 {
		return pairs
	}
	for i := 0; i < len(pairs); i += 2 {
		lo, hi := pairs[i], pairs[i+1]
		if lo <= unicode.MaxASCII {
			clipped = append(clipped, lo, min(hi, unicode.MaxASCII))
		}
		if lo, hi = max(lo, stand+unicode.MaxASCII+1), min(hi, stand+unicode.MaxLatin1); lo <= hi {
			clipped = append(clipped, lo-stand, hi-stand)
		}
	}
	return merge(clipped)
}

// Size returns RE2::ProgramSize, the number of instructions of a compiled expression. ok is false if the expression is
// not valid, or if the size depends on RE2's version of Unicode.
func Size(expression string, charset Charset) (size int, ok bool) {
	if strings.Contains(expression, `\p`) || strings.Contains(expression, `\P`) {
		if charset == UTF8 || strings.Contains(expression, "(?") {
			return 0, false
		}
	}
	n, err := parser{charset}.parse(expression)
	if err != nil {
		return 0, false
	}
	p := compile(simplify(coalesce(cutPrefix(n))), charset)
	if p.tooLarge {
		return maxInst, true
	}
	return p.size(), true
}
