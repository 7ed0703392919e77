package walk

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// query is a query whose parameters are decoded (QueryParamsMulti::parseAndDecodeQueryString).
type query map[string][]string

// decodeQuery reads the query of a path.
func decodeQuery(path string) query {
	q := query{}
	_, text := splitQuery(path)
	text = strings.TrimPrefix(text, "?")
	if text == "" {
		return q
	}
	for part := range strings.SplitSeq(strings.TrimSuffix(text, "&"), "&") {
		name, value, _ := strings.Cut(part, "=")
		name = unescape(name)
		q[name] = append(q[name], unescape(value))
	}
	return q
}

func (q query) first(name string) (string, bool) {
	all := q[name]
	if len(all) == 0 {
		return "", false
	}
	return all[0], true
}

// in returns a path with the query in place of its own. The parameters are sorted, and not encoded again.
func (q query) in(path string) string {
	before, _ := splitQuery(path)
	delimiter := "?"
	for _, name := range slices.Sorted(maps.Keys(q)) {
		for _, value := range q[name] {
			before += delimiter + name + "=" + value
			delimiter = "&"
		}
	}
	return before
}

// encode follows PercentEncoding::urlEncode, which filters use for the values that they write.
func encode(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if unreserved(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unreserved reports whether a byte is written as it is.
func unreserved(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-_.*", c) >= 0
}

// unescape follows PercentEncoding::decode, which leaves alone what is not an escape sequence.
func unescape(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) && unhex(text[i+1]) >= 0 && unhex(text[i+2]) >= 0 {
			b.WriteByte(byte(unhex(text[i+1])<<4 | unhex(text[i+2])))
			i += 2
			continue
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
