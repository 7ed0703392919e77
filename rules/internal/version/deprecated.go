package version

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:      "deprecated",
	Severity:  lint.Warning,
	Fragments: true,
	Summary:   "a field or enum value that the API declares deprecated",
	Links:     []string{"https://www.envoyproxy.io/docs/envoy/latest/version_history/version_history"},
	Run:       lint.EachMatching(suspect, func(p *lint.Pass, at lint.At, m protoreflect.Message) { reportDeprecated(p, at.Place, usesOf(m)) }),
})

func reportDeprecated(p *lint.Pass, at *graph.Place, uses []use) {
	if len(uses) == 0 {
		return
	}
	if validated, _ := envoy.Validated(p.Target.Extensions(), at); !validated {
		return
	}
	flags := runtimeOf(p.Snapshot)
	for _, u := range uses {
		if u.unset || u.rejected(flags) && fatal(p, at) || u.field.Name() == "transport_api_version" {
			continue // version/disallowed, version/v2
		}
		if then, differs := p.Target.Options(u.field.FullName()); differs && u.value == nil && !then.GetDeprecated() {
			continue
		}
		where := at.At().Field(string(u.field.Name()))
		d := lint.Diagnostic{
			Message:  u.message(),
			Notes:    []string{"Envoy logs a warning for now"},
			Help:     u.replacement(),
			Upstream: u.upstream(),
		}
		if u.value == nil {
			where = where.Key()
			d.Fixes = u.fix(at)
		} else if u.value.FullName() == "envoy.config.core.v3.V2" {
			d.Fixes = lint.Replace(where, "V3").Safe("write V3") // envoy requests v3 resources anyway
		}
		p.Report(where, d)
	}
}

func (u use) replacement() string {
	if u.value != nil {
		return replacements[string(u.value.FullName())]
	}
	return replacements[string(u.field.FullName())]
}
