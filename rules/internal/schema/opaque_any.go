package schema

import (
	"fmt"

	"google.golang.org/protobuf/types/known/anypb"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/internal/decode"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "opaque-any",
	Family:   dataplane.Envoy,
	Severity: lint.Info,
	Summary:  "xdslint does not know the type of an Any in a patch, so its content was not checked",
	Links:    []string{"https://github.com/cilium/cilium/issues/28272"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, any *anypb.Any) {
		name := envoy.ExtensionType(at.Place)
		if !at.Place.Opaque || decode.IsOld(name) || official(p.Target, name) || !ofOtherBuild(p, at, name) {
			return // version/v2 and schema/bad-type-url report those
		}
		p.Report(at, lint.Diagnostic{
			Message: fmt.Sprintf("the content of %s was not checked, since its type is not known", name),
			Help:    "pass the descriptor of its type with --proto-descriptors",
		})
	}),
})
