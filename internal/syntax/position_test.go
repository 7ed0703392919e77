package syntax

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

// at makes a path of "a.b[0].c"; a map entry is spelled `a{key}`.
func at(path string) *tree.Path {
	var p *tree.Path
	if path == "" {
		return nil
	}
	for _, step := range strings.Split(path, ".") {
		if name, key, ok := strings.Cut(step, "{"); ok {
			p = p.Entry(name, strings.TrimSuffix(key, "}"))
		} else if name, index, ok := strings.Cut(step, "["); ok {
			i, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
			if err != nil {
				panic(err)
			}
			p = p.Item(name, i)
		} else {
			p = p.Field(step)
		}
	}
	return p
}

type placed struct{ path, key, value string } // each with the line and column where it starts

func testPositions(t *testing.T, parse func(*source.File) ([]*tree.Node, error), text string, want []placed) {
	t.Helper()
	file := &source.File{Text: []byte(text)}
	docs, err := parse(file)
	if err != nil {
		t.Fatal(err)
	}
	shown := func(s source.Span) string {
		if s.IsZero() {
			return ""
		}
		pos := file.Position(s.Start)
		return fmt.Sprintf("%d:%d %s", pos.Line, pos.Column, text[s.Start:s.End])
	}
	for _, w := range want {
		f := docs[0].Locate(at(w.path))
		key, value := shown(f.Key), shown(f.Value)
		if !f.Exact {
			value += " (near)"
		}
		if key != w.key || value != w.value {
			t.Errorf("%s:\n got key %q, value %q\nwant key %q, value %q", w.path, key, value, w.key, w.value)
		}
	}
}

func TestYAMLPositions(t *testing.T) {
	testPositions(t, ParseYAML, `# é
name: "a b"   # c
é: &anchor {x: [1, 'two', "th\"ree"], y: {}}
list:
- one
-   two three
- a: 1
  b: !!str plain
- - nested
again: *anchor
? complex
: value
text: |
  first
  second

folded: >-
    only
multi: word
  more words
camelCase: yes
empty:
last: {a: [
  1, # ]
  2]}
`, []placed{
		{"name", "2:1 name", `2:7 "a b"`},
		{"é", "3:1 é", `3:12 {x: [1, 'two', "th\"ree"], y: {}}`},
		{"é.x", "3:13 x", `3:16 [1, 'two', "th\"ree"]`},
		{"é.x[0]", "", "3:17 1"},
		{"é.x[1]", "", "3:20 'two'"},
		{"é.x[2]", "", `3:27 "th\"ree"`},
		{"é.y", "3:39 y", "3:42 {}"},
		{"list[0]", "", "5:3 one"},
		{"list[1]", "", "6:5 two three"},
		{"list[2]", "", "7:3 a: 1\n  b: !!str plain"},
		{"list[2].a", "7:3 a", "7:6 1"},
		{"list[2].b", "8:3 b", "8:12 plain"},
		{"list[9]", "4:1 list", "5:1 - one\n-   two three\n- a: 1\n  b: !!str plain\n- - nested (near)"},
		{"again.y", "3:39 y", "3:42 {}"},
		{"complex", "11:3 complex", "12:3 value"},
		{"text", "13:1 text", "13:7 |\n  first\n  second"},
		{"folded", "17:1 folded", "17:9 >-\n    only"},
		{"multi", "19:1 multi", "19:8 word"},
		{"camel_case", "21:1 camelCase", "21:12 yes"},
		{"last.a", "23:8 a", "23:11 [\n  1, # ]\n  2]"},
		{"last", "23:1 last", "23:7 {a: [\n  1, # ]\n  2]}"},
	})
}

func TestJSONPositions(t *testing.T) {
	testPositions(t, ParseJSON, `{
  "a": "é\n", 'b' : [1, {"c": true}, null],
  d: {"e": -1.5e3,},
}`, []placed{
		{"a", `2:3 "a"`, `2:8 "é\n"`},
		{"b", `2:15 'b'`, `2:21 [1, {"c": true}, null]`},
		{"b[0]", "", "2:22 1"},
		{"b[1].c", `2:26 "c"`, "2:31 true"},
		{"b[2]", "", "2:38 null"},
		{"d", "3:3 d", `3:6 {"e": -1.5e3,}`},
		{"d.e", `3:7 "e"`, "3:12 -1.5e3"},
	})
}

func TestProtoTextPositions(t *testing.T) {
	testPositions(t, ParseProtoText, `# c
a: "é" 'x' # c
b { c: -5 d: WORD, e <f: [1, 2];> }
b { c: 6 }
m { key: "k" value { [type.googleapis.com/x.Y] { z: 1.5f } } }
m { key: "l" value { z: 0x10 } }
`, []placed{
		{"a", "2:1 a", `2:4 "é" 'x'`},
		{"b[0]", "", "3:3 { c: -5 d: WORD, e <f: [1, 2];> }"},
		{"b[0].c", "3:5 c", "3:8 -5"},
		{"b[0].d", "3:11 d", "3:14 WORD"},
		{"b[0].e.f[1]", "", "3:30 2"},
		{"b[1].c", "4:5 c", "4:8 6"},
		{"m{k}.z", "5:50 z", "5:53 1.5f"},
		{"m{l}.z", "6:22 z", "6:25 0x10"},
	})
}
