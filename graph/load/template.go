package load

import (
	"bytes"
	"fmt"
	"regexp"
	"sync"

	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/internal/source"
	"github.com/xdslint/xdslint/internal/syntax"
)

// blocks are the marks of template languages that no YAML or JSON has: Go and Helm, Jinja, ERB.
var blocks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{-?[ \t]*[^{}\n]*\}\}|\{%[^\n]*%\}|<%[^\n]*%>`)
})

// variables are marks that a text may well hold without being a template.
var variables = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[A-Za-z_][^}\n]*\}|\$\([A-Za-z_]\w*\)`)
})

// ofKubernetes are the keys that every object has.
var ofKubernetes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(apiVersion|kind):`)
})

// template tells whether a text that cannot be read is a template which has to be rendered first, and where that shows.
func template(file *source.File, fault *syntax.Error) (decode.Problem, bool) {
	at := blocks().FindIndex(file.Text)
	if at == nil {
		line := file.Position(fault.Span.Start).Line
		for n := max(1, line-1); n <= line && at == nil; n++ {
			text, start := file.Line(n)
			if at = variables().FindIndex(text); at != nil {
				at[0], at[1] = at[0]+start, at[1]+start
			}
		}
	}
	if at == nil {
		return decode.Problem{}, false
	}
	mark := file.Text[at[0]:at[1]]
	if len(mark) > 60 {
		mark = append(bytes.ToValidUTF8(mark[:57:57], nil), "…"...)
	}
	return decode.Problem{
		Kind: decode.Syntax, Name: "template", Span: source.Span{Start: at[0], End: at[1]},
		Message: fmt.Sprintf("this looks like a template (line %d: %s); render it first", file.Position(at[0]).Line, mark),
	}, true
}
