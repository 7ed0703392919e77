package bootstrap

import "testing"

// The errors are those of the real Envoy for the regex of a tag.
func TestStdRegexError(t *testing.T) {
	for expression, want := range map[string]regexError{
		`^cluster\.((.+?)\.)`: "", `(a)\1`: "", `x(?=\.)`: "", `(?!a)b`: "", `[[:alpha:]_\[\]-]+`: "", `\cA\x41\u0041\0`: "", `a{2}b{2,}c{2,3}?`: "", ``: "",
		`[]`: "", `[^]`: "", `[a-b-c]`: "", `\_\-`: "", `|`: "", `()`: "", `[\b]`: "", `é`: "", `[[=a=]]`: "", `[[.a.]]`: "",
		`((`: errParen, `(`: errParen, `(?:a`: errParen, `(?=a`: errParen,
		`a)`: errParse, `a]`: errParse, `a}`: errParse,
		`(?P<n>a)`: errBadRepeat, `(?<=a)`: errBadRepeat, `(?i)a`: errBadRepeat, `*a`: errBadRepeat, `a**`: errBadRepeat, `a++`: errBadRepeat, `^*`: errBadRepeat, `(?=a)*`: errBadRepeat,
		`(a)\2`: errBackref, `\1`: errBackref,
		`a{2,1}`: errBadBrace, `a{b`: errBadBrace, `a{99999999999}`: errBadBrace, `a{1`: errBrace, `a{1,b`: errBrace,
		`[a`: errBrack, `[`: errBrack, `[[:alpha:`: errBrack, `[[:foo:]]`: errCtype, `[[.ab.]]`: errCollate,
		`[b-a]`: errRange, `[\w-a]`: errRange, `[a-\w]`: errRange, `[a-\n]`: errRange,
		`\p{L}`: errEscape, `\Q`: errEscape, `a\`: errEscape, `\x1`: errEscape, `\c1`: errEscape, `[\q]`: errEscape,
	} {
		if got := stdRegexError(expression, libcxx{}); got != string(want) {
			t.Errorf("%s: %q, want %q", expression, got, want)
		}
	}
}
