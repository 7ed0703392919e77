package syntax

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/tree"
)

func TestLimits(t *testing.T) {
	bomb := "a0: &a0 [x]\n"
	for i := 1; i < 30; i++ {
		bomb += fmt.Sprintf("a%d: &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i, i-1, i-1, i-1, i-1)
	}
	for name, c := range map[string]struct {
		parse func(*source.File) ([]*tree.Node, error)
		text  string
		want  string
	}{
		"alias bomb":    {ParseYAML, bomb, "alias bomb"},
		"loop":          {ParseYAML, "a: &a [*a]\n", ""},
		"deep YAML":     {ParseYAML, strings.Repeat("[", 100_000), "depth"},
		"deep JSON":     {ParseJSON, strings.Repeat("[", 100_000), "1000 deep"},
		"deep text":     {ParseProtoText, strings.Repeat("a{", 100_000), "1000 deep"},
		"deep list":     {ParseProtoText, "a:" + strings.Repeat("[", 100_000), "1000 deep"},
		"many in YAML":  {ParseYAML, strings.Repeat("-\n", maxValues+1), "limit is 10000000"},
		"many in JSON":  {ParseJSON, strings.Repeat(",", maxValues+1), "limit is 10000000"},
		"many in text":  {ParseProtoText, strings.Repeat(":", maxValues+1), "limit is 10000000"},
		"no UTF-8":      {ParseYAML, "a: \"\xff\"", "not valid UTF-8"},
		"no UTF-8 JSON": {ParseJSON, "{\"a\": \"\xff\"}", "not valid UTF-8"},
		"no UTF-8 text": {ParseProtoText, "a: \"\xff\"", "not valid UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs, err := c.parse(&source.File{Text: []byte(c.text)})
			var fault *Error
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.As(err, &fault) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %d documents and %v, want %q", len(docs), err, c.want)
			}
		})
	}
}
