package difftest

import (
	"regexp"
	"sort"
	"strings"
)

var (
	quoted   = regexp.MustCompile(`"(\\.|[^"\\])*"|\B'[^']*'`)
	numbers  = regexp.MustCompile(`[-+]?\b[0-9]+(\.[0-9]+)*(e[-+]?[0-9]+)?`)
	tail     = regexp.MustCompile(`( near|is missing in:|===).*`) // differs from run to run, or quotes the configuration
	culprit  = regexp.MustCompile(`\(field: "(\w+)"`)
	notWords = regexp.MustCompile(`[^a-z]+`)
)

const longMessage = 200

// normalise removes from a message what depends on the configuration: names, numbers, quoted texts.
func normalise(message string, root *value) string {
	message = tail.ReplaceAllString(message, "$1…")
	message = culprit.ReplaceAllString(message, "(field: $1")
	message = quoted.ReplaceAllString(message, "_")
	for _, name := range namesIn(root) {
		message = replaceWord(message, name, "_")
	}
	message = numbers.ReplaceAllString(message, "N")
	message = strings.Join(strings.Fields(message), " ")
	if runes := []rune(message); len(runes) > longMessage {
		message = string(runes[:longMessage])
	}
	return message
}

// namesIn lists the texts under name-like keys, the longest first. It leaves out names such as "route", which are words
// of many messages.
func namesIn(root *value) (names []string) {
	vocabulary := map[string]bool{}
	root.each("", func(_ string, v *value) {
		for _, key := range v.keys {
			for word := range strings.SplitSeq(key, "_") {
				vocabulary[word] = true
			}
		}
	})
	root.each("", func(key string, v *value) {
		named := nameGroup(key) != "" && len(v.text) > 1 || key == "domains" || key == "address" || key == "hostname"
		if named && v.text != "" && !vocabulary[v.text] {
			names = append(names, v.text)
		}
	})
	sort.SliceStable(names, func(i, j int) bool { return len(names[i]) > len(names[j]) })
	return names
}

// replaceWord replaces a name where it is a whole word: not "api" in "rapid".
func replaceWord(in, name, by string) string {
	var b strings.Builder
	for {
		i := strings.Index(in, name)
		if i < 0 {
			return b.String() + in
		}
		end := i + len(name)
		b.WriteString(in[:i])
		if i > 0 && isWord(in[i-1]) || end < len(in) && isWord(in[end]) {
			b.WriteString(name)
		} else {
			b.WriteString(by)
		}
		in = in[end:]
	}
}

func isWord(c byte) bool {
	return c == '_' || c == '-' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// slug returns a part of a file name that resembles a message.
func slug(message string) string {
	const long = 50
	s := strings.Trim(notWords.ReplaceAllString(strings.ToLower(message), "-"), "-")
	if len(s) > long {
		s = s[:long]
		if cut := strings.LastIndexByte(s, '-'); cut > long/2 {
			s = s[:cut]
		}
	}
	return s
}

func join(all []string) string { return strings.Join(all, ", ") }
