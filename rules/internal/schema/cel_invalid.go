package schema

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/cel"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cel-invalid",
	Family:   dataplane.Envoy,
	Severity: lint.Error,
	Summary:  "a CEL expression is malformed, or calls a function that Envoy does not have",
	Links:    []string{"Expr::createExpression (source/extensions/filters/common/expr/evaluator.cc)"},
	Run: lint.EachMatching(func(_ dataplane.Target, md protoreflect.MessageDescriptor) bool {
		return expressions[md.FullName()] != nil || trees[md.FullName()] != ""
	}, func(p *lint.Pass, at lint.At, m protoreflect.Message) {
		if built, _ := envoy.Validated(p.Target.Extensions(), at.Place); built {
			checkExpressions(p, at, m)
			checkTree(p, at, m)
		}
	}),
})

// expressions maps messages to their fields that hold CEL expressions.
var expressions = map[protoreflect.FullName][]protoreflect.Name{
	"envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter": {"expression"},
	"envoy.extensions.filters.http.ext_proc.v3.ExternalProcessor":     {"request_attributes", "response_attributes"},
	"envoy.extensions.rate_limit_descriptors.expr.v3.Descriptor":      {"text"},
}

func checkExpressions(p *lint.Pass, at lint.At, m protoreflect.Message) {
	invalid := cel.Invalid
	if options := m.Descriptor().Fields().ByName("cel_config"); options != nil && m.Has(options) {
		invalid = cel.Malformed // the options add functions
	}
	for _, field := range expressions[m.Descriptor().FullName()] {
		fd := m.Descriptor().Fields().ByName(field)
		if fd == nil || !m.Has(fd) {
			continue
		}
		if !fd.IsList() {
			checkExpression(p, at.Field(string(field)), m.Get(fd).String(), invalid)
			continue
		}
		for i := range m.Get(fd).List().Len() {
			checkExpression(p, at.Item(string(field), i), m.Get(fd).List().Get(i).String(), invalid)
		}
	}
}

const attributesHelp = "see https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/advanced/attributes; comprehensions such as exists() are disabled"

func checkExpression(p *lint.Pass, at lint.At, text string, invalid func(string) string) {
	if upstream := invalid(text); upstream != "" {
		p.Reject(at, lint.Rejection{
			Message:  fmt.Sprintf("%q is not a CEL expression that Envoy can use", text),
			Help:     attributesHelp,
			Upstream: upstream,
		})
	}
}
