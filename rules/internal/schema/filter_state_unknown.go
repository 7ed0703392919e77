package schema

import (
	"fmt"

	setfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/common/set_filter_state/v3"

	"github.com/xdslint/xdslint/dataplane"
	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "filter-state-unknown",
	Family:   dataplane.Envoy,
	Severity: lint.Error,
	Summary:  "set_filter_state sets an object of a kind that Envoy does not have",
	Links:    []string{"Config::parse (source/extensions/filters/common/set_filter_state/filter_config.cc)"},
	Run: lint.Each(func(p *lint.Pass, at lint.At, m *setfilterstatev3.FilterStateValue) {
		field, kind := "factory_key", m.GetFactoryKey()
		if kind == "" {
			field, kind = "object_key", m.GetObjectKey()
		}
		if kind == "" || named(p, kind, []string{"filter_state.object"}) || !envoy.OuterRead(p.Target.Extensions(), at.Place) {
			return
		}
		p.Reject(at.Field(field), lint.Rejection{
			Message:  fmt.Sprintf("%s does not have a kind of object %q", build(p), kind),
			Help:     "add factory_key: envoy.string, and keep the name in object_key",
			Upstream: fmt.Sprintf("'%s' does not have an object factory", m.GetObjectKey()),
		})
	}),
})
