package reference

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "per-filter-other-type",
	Severity: lint.Warning,
	Summary:  "a key of typed_per_filter_config names an HTTP filter of another type than its value",
	Links: []string{
		"Utility::resolveMostSpecificPerFilterConfig (source/common/http/utility.h)",
		"https://www.envoyproxy.io/docs/envoy/latest/intro/arch_overview/http/http_filters#route-specific-config",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		var choices filtersOfTable
		named := filtersByName(p.Snapshot)
		for _, e := range p.Snapshot.References(graph.HTTPFilter) {
			config := perFilterConfig(e).message
			if config == nil || !managersKnown(p.Snapshot, e) || slices.ContainsFunc(named[e.Target], readsPerRoute(config)) {
				continue
			}
			choices.of(p.Snapshot, e)
			if i := slices.IndexFunc(choices.filters, func(f envoy.HTTPFilter) bool { return f.Message.GetName() == e.Target }); i >= 0 {
				reportOtherType(p, e, config, choices.filters[i], choices.filters)
			}
		}
	}),
})

// filtersByName returns the HTTP filters of a snapshot, also those of upgrades and clusters, one of each name and kind.
func filtersByName(s graph.View) map[string][]envoy.HTTPFilter {
	named := map[string][]envoy.HTTPFilter{}
	for _, place := range s.Places((&hcmv3.HttpFilter{}).ProtoReflect().Descriptor().FullName()) {
		m, ok := graph.As[*hcmv3.HttpFilter](place)
		if !ok {
			continue
		}
		f, same := envoy.HTTPFilterOf(place.At(), m), named[m.GetName()]
		if !slices.ContainsFunc(same, func(o envoy.HTTPFilter) bool { return o.Kind == f.Kind }) {
			named[m.GetName()] = append(same, f)
		}
	}
	return named
}

func readsPerRoute(config proto.Message) func(envoy.HTTPFilter) bool {
	return func(f envoy.HTTPFilter) bool { return f.ReadsPerRoute(config) }
}

// filtersOfTable are the filters that the keys of one map can refer to. The references in a map follow one another, so they share them.
type filtersOfTable struct {
	at      *graph.Place
	filters []envoy.HTTPFilter
}

func (c *filtersOfTable) of(s graph.View, e *graph.Edge) {
	if c.at == e.Place {
		return
	}
	*c = filtersOfTable{at: e.Place}
	for _, at := range s.FilterChoices(e) {
		if manager, ok := graph.As[*hcmv3.HttpConnectionManager](at); ok {
			c.filters = append(c.filters, envoy.HTTPFiltersOf(at.At(), "http_filters", manager.GetHttpFilters())...)
		}
	}
}

func reportOtherType(p *lint.Pass, e *graph.Edge, config proto.Message, filter envoy.HTTPFilter, all []envoy.HTTPFilter) {
	at := e.Place.At().Entry(fieldPerFilter, e.Target).Key()
	d := lint.Diagnostic{
		Message: fmt.Sprintf("the filter %q is of type %s, and this is the configuration of another filter", e.Target, filter.Kind),
		Notes:   []string{"Envoy accepts it, and the filter ignores it"},
		Help:    "write the name of the filter that this configures",
		Related: []lint.Related{lint.RelatedTo(filter.At, "this filter has the name")},
	}
	if i := slices.IndexFunc(all, func(f envoy.HTTPFilter) bool { return f.Kind != "" && f.ReadsPerRoute(config) }); i >= 0 {
		meant := all[i].Message.GetName()
		d.Help = fmt.Sprintf("did you mean %q?", meant)
		d.Fixes = lint.Rename(at, meant).Likely(fmt.Sprintf("write %q", meant))
	}
	p.Report(at, d)
}
