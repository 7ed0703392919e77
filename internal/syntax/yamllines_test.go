package syntax_test

import (
	"testing"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

// TestYAMLPlaces: places are found with every kind of line break, and behind a byte order mark.
func TestYAMLPlaces(t *testing.T) {
	for name, text := range map[string]string{
		"byte order mark":                    "\ufeffa: {target: 1}\n",
		"byte order mark, and further lines": "\ufeffa: 1\nb: {target: 1}\n",
		"carriage returns":                   "a: 1\rb: {target: 1}\r",
		"Windows":                            "a: &x 1\r\nb: {target: 1}\r\n",
		"next line":                          "a: \"x\u0085y\"\nb: {target: 1}\n",
		"line separator":                     "a: \"x\u2028y\"\nb: {é: 1, target: 1}\n",
		"paragraph separator":                "# x\u2029a: 1\nb: {target: 1}\n",
	} {
		docs, err := syntax.ParseYAML(&source.File{Name: "a.yaml", Text: []byte(text)})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		found := false
		for _, outer := range docs[0].Items {
			for i, key := range outer.Keys {
				if key.Name == "target" {
					found = true
					if got := text[key.Span().Start:key.Span().End]; got != "target" {
						t.Errorf("%s: the key is found at %q", name, got)
					}
					if span := outer.Items[i].Span(); text[span.Start:span.End] != "1" {
						t.Errorf("%s: the value is found at %q", name, text[span.Start:span.End])
					}
				}
			}
		}
		if !found {
			t.Errorf("%s: not read", name)
		}
	}
}
