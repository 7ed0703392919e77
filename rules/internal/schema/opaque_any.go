package schema

import (
	"fmt"

	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "opaque-any",
	Severity: lint.Info,
	Summary:  "an Any whose type xdslint does not know, so that its content was not looked at",
	Links:    []string{"https://github.com/cilium/cilium/issues/28272"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, any *anypb.Any) {
		name := envoy.ExtensionType(at.Place)
		if !at.Place.Opaque || isV2(name) || official(p.Target, name) {
			return // a v2 type has a rule of its own, and what is not of its type too
		}
		if nearestType(p.Target.Extensions(), name) != "" {
			return // misspelt
		}
		p.Report(at, lint.Diagnostic{
			Message: fmt.Sprintf("the content of %s was not looked at, since its type is not known", name),
			Help:    "give its type with --proto-descriptors",
		})
	}),
})
