package reference

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/anypb"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "per-filter-key-unknown",
	Severity: lint.Warning,
	Summary:  "no HTTP filter has the name of a key of typed_per_filter_config",
	Links: []string{
		"PerFilterConfigs (source/common/router/config_impl.cc)",
		"https://github.com/envoyproxy/envoy/issues/29332",
		"https://github.com/envoyproxy/envoy/issues/14599",
	},
	Run: lint.ForSnapshot(func(p *lint.Pass) {
		var choices filterChoices
		for _, e := range p.Snapshot.References(graph.HTTPFilter) {
			if e.To == nil && !p.Snapshot.Assumes(graph.HTTPFilter, e.Target) {
				unknownFilter(p, e, &choices)
			}
		}
	}),
})

func unknownFilter(p *lint.Pass, e *graph.Edge, choices *filterChoices) {
	config := perFilterConfig(e)
	if config.optional || !managersKnown(p.Snapshot, e) {
		return
	}
	choices.of(p.Snapshot, e)
	names, sameKind := choices.names, choices.alike(config.message)
	near, missing := "", len(sameKind) == 0 && ofFilter(config.message)
	if !missing {
		near = p.Nearest(e.Target, func() []string { return names })
	}
	if len(sameKind) == 1 && !slices.Contains(sameKind, near) {
		near = sameKind[0]
	}
	if near == "" && (config.message == nil || p.Snapshot.World(graph.Cluster, graph.Anywhere) == graph.Open) {
		// Disabling a filter that does not exist is harmless, and an unknown cluster may have the filter.
		return
	}
	d := lint.Diagnostic{
		Message: fmt.Sprintf("no HTTP filter is named %q", e.Target),
		Notes:   []string{"Envoy accepts it and ignores this configuration"},
	}
	switch {
	case missing:
		d.Help = "add the filter that this is for to http_filters, or remove this"
	case near != "":
		d.Help = fmt.Sprintf("did you mean %q?", near)
	case len(names) > 0 && len(names) <= 10:
		d.Help = fmt.Sprintf("use the name of a filter: %s", strings.Join(words.Quoted(names), ", "))
	}
	// The key is the name, not the value.
	at := e.Place.At().Entry(fieldPerFilter, e.Target).Key()
	if slices.Contains(sameKind, near) {
		d.Fixes = lint.Rename(at, near).Likely(fmt.Sprintf("write %q", near))
	} else if near != "" {
		d.Fixes = lint.Correct(at, e.Target, near)
	}
	p.Report(at, d)
}

// managersKnown reports whether all connection managers that use the table are known: the one around it, or those of all
// listeners.
func managersKnown(s graph.View, e *graph.Edge) bool {
	return e.Place.Enclosing("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager") != nil || s.World(graph.Listener, graph.Anywhere) != graph.Open
}

type filterConfig struct {
	message  proto.Message // nil if it only enables or disables the filter
	optional bool
}

func perFilterConfig(e *graph.Edge) filterConfig {
	fd := e.Place.Message.Descriptor().Fields().ByName(fieldPerFilter)
	value := e.Place.Message.Get(fd).Map().Get(protoreflect.ValueOfString(e.Target).MapKey())
	if !value.IsValid() {
		return filterConfig{}
	}
	content := e.From.Contents[value.Message().Interface()]
	if wrapper, ok := content.(*routev3.FilterConfig); ok {
		return filterConfig{inner(e, wrapper.GetConfig()), wrapper.GetIsOptional()}
	}
	return filterConfig{message: content}
}

func inner(e *graph.Edge, any *anypb.Any) proto.Message {
	if any == nil {
		return nil
	}
	return e.From.Contents[any]
}

// filterChoices are the filters that the keys of one map can refer to. The references in a map follow one another, so
// they share them.
type filterChoices struct {
	at     *graph.Place
	names  []string
	inside map[string][]string // by the package of their configuration
}

// of collects the choices of a reference.
func (c *filterChoices) of(s graph.View, e *graph.Edge) {
	if c.at == e.Place {
		return
	}
	*c = filterChoices{at: e.Place, inside: map[string][]string{}}
	known := map[string]bool{}
	for _, at := range s.FilterChoices(e) {
		manager, ok := graph.As[*hcmv3.HttpConnectionManager](at)
		if !ok {
			continue
		}
		for _, f := range manager.GetHttpFilters() {
			if known[f.GetName()] {
				continue
			}
			known[f.GetName()] = true
			c.names = append(c.names, f.GetName())
			in := packageOf(at.Resource.Contents[f.GetTypedConfig()])
			c.inside[in] = append(c.inside[in], f.GetName())
		}
	}
}

// alike returns the names of the filters whose type is in the package of a configuration: ext_authz.v3.ExtAuthzPerRoute belongs to
// ext_authz.v3.ExtAuthz.
func (c *filterChoices) alike(config proto.Message) []string {
	if config == nil {
		return nil
	}
	return c.inside[packageOf(config)]
}

// ofFilter reports whether a configuration is for one kind of HTTP filter, as its package says.
func ofFilter(config proto.Message) bool {
	return strings.HasPrefix(packageOf(config), "envoy.extensions.filters.http.")
}

func packageOf(m proto.Message) string {
	if m == nil {
		return ""
	}
	return string(m.ProtoReflect().Descriptor().ParentFile().Package())
}
