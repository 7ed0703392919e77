package walk

import "strings"

// splitQuery splits a path before its query.
func splitQuery(path string) (before, query string) {
	if i := strings.IndexByte(path, '?'); i >= 0 {
		return path[:i], path[i:]
	}
	return path, ""
}

// withoutQuery follows PathUtil::removeQueryAndFragment.
func withoutQuery(path string) string {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		return path[:i]
	}
	return path
}

var slashes = strings.NewReplacer("%2F", "/", "%2f", "/", "%5C", `\`, "%5c", `\`)

// unescapeSlashes follows PathUtil::unescapeSlashes.
func unescapeSlashes(path string) (result string, found bool) {
	before, query := splitQuery(path)
	result = slashes.Replace(before) + query
	return result, result != path
}

// mergeSlashes follows PathUtil::mergeSlashes, which leaves // as it is.
func mergeSlashes(path string) string {
	before, query := splitQuery(path)
	if !strings.Contains(before, "//") {
		return path
	}
	segments := strings.FieldsFunc(before, func(r rune) bool { return r == '/' })
	merged := strings.Join(segments, "/")
	if strings.HasPrefix(before, "/") {
		merged = "/" + merged
	}
	if strings.HasSuffix(before, "/") {
		merged += "/"
	}
	return merged + query
}

// canonicalPath follows PathUtil::canonicalPath, which is url::CanonicalizePath of Chromium for the part before the query. It removes . and ..,
// and %XX of letters, digits and -._~. ok is false if the path has %00.
func canonicalPath(path string) (result string, ok bool) {
	before, query := splitQuery(path)
	c := canonicalizer{in: before, ok: true}
	if !strings.HasPrefix(before, "/") && !strings.HasPrefix(before, `\`) {
		c.out = append(c.out, '/')
	}
	for c.at < len(c.in) {
		c.step()
	}
	return string(c.out) + query, c.ok
}

// plainDots removes the parameters of the segments . and .. of a path.
func plainDots(path string) string {
	if !strings.Contains(path, ".;") {
		return path
	}
	before, query := splitQuery(path)
	segments := strings.Split(before, "/")
	for i, segment := range segments {
		if name, _, _ := strings.Cut(segment, ";"); name == "." || name == ".." {
			segments[i] = name
		}
	}
	return strings.Join(segments, "/") + query
}

type canonicalizer struct {
	in  string
	at  int
	out []byte
	ok  bool
}

// step reads one character, or an escape sequence, or a segment of dots.
func (c *canonicalizer) step() {
	ch := c.in[c.at]
	if n := c.dot(c.at); n > 0 {
		c.dots(n)
		return
	}
	switch {
	case ch == '\\':
		c.out = append(c.out, '/')
	case ch == '%':
		c.escape()
		return
	case ch <= ' ' || ch >= 0x7f || strings.IndexByte("\"#<>?`{}^|", ch) >= 0:
		c.out = append(c.out, '%', hexDigits[ch>>4], hexDigits[ch&15])
	default:
		c.out = append(c.out, ch)
	}
	c.at++
}

const hexDigits = "0123456789ABCDEF"

// dot returns the length of a dot at a place, which may be escaped, or 0.
func (c *canonicalizer) dot(at int) int {
	switch {
	case at < len(c.in) && c.in[at] == '.':
		return 1
	case at+2 < len(c.in) && strings.EqualFold(c.in[at:at+3], "%2e"):
		return 3
	}
	return 0
}

// dots reads a dot, and the rest of its segment if that is . or ..
func (c *canonicalizer) dots(n int) {
	if len(c.out) == 0 || c.out[len(c.out)-1] != '/' {
		c.out, c.at = append(c.out, '.'), c.at+n
		return
	}
	after := c.at + n
	if end, ok := c.segmentEnd(after); ok {
		c.at = end
		return
	}
	if second := c.dot(after); second > 0 {
		if end, ok := c.segmentEnd(after + second); ok {
			c.at = end
			if parent := strings.LastIndexByte(string(c.out[:len(c.out)-1]), '/'); parent >= 0 {
				c.out = c.out[:parent+1]
			}
			return
		}
	}
	c.out, c.at = append(c.out, '.'), after
}

// segmentEnd returns the place after the slash that ends a segment here.
func (c *canonicalizer) segmentEnd(at int) (int, bool) {
	switch {
	case at == len(c.in):
		return at, true
	case c.in[at] == '/' || c.in[at] == '\\':
		return at + 1, true
	}
	return 0, false
}

func (c *canonicalizer) escape() {
	if c.at+2 >= len(c.in) || unhex(c.in[c.at+1]) < 0 || unhex(c.in[c.at+2]) < 0 {
		c.out = append(c.out, '%')
		c.at++
		return
	}
	value := byte(unhex(c.in[c.at+1])<<4 | unhex(c.in[c.at+2]))
	if isUnreserved(value) {
		c.out = append(c.out, value)
	} else {
		c.out = append(c.out, c.in[c.at:c.at+3]...)
		c.ok = c.ok && value != 0
	}
	c.at += 3
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

func isUnreserved(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_' || c == '.' || c == '~'
}
