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

// blocks matches marks of template languages that do not occur in YAML or JSON: Go and Helm, Jinja, ERB.
var blocks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\{\{-?[ \t]*[^{}\n]*\}\}|\{%[^\n]*%\}|<%[^\n]*%>`)
})

// variables matches marks that also occur in texts that are not templates.
var variables = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\$\{[A-Za-z_][^}\n]*\}|\$\([A-Za-z_]\w*\)|@[A-Z_][A-Z0-9_]*@`)
})

// ofKubernetes matches the keys that every Kubernetes object has.
var ofKubernetes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(apiVersion|kind):`)
})

// template reports whether a text that cannot be read is a template that must be rendered first, and where the mark of the template is.
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
