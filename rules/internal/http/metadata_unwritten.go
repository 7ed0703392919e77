package http

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	listenerv3 "github.com/envoyproxy/go-control-plane/envoy/config/listener/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
	"github.com/xdslint/xdslint/internal/words"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "metadata-unwritten",
	Severity: lint.Warning,
	Summary:  "dynamic metadata is read that no HTTP filter has written before",
	Links: []string{
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/advanced/well_known_dynamic_metadata",
		"https://www.envoyproxy.io/docs/envoy/latest/api-v3/extensions/filters/http/jwt_authn/v3/config.proto#envoy-v3-api-field-extensions-filters-http-jwt-authn-v3-jwtprovider-payload-in-metadata",
	},
	Run: managers.All(func(p *lint.Pass, all []managers.Manager) {
		written := map[*graph.Place]*metadataWriters{}
		for _, m := range all {
			written[m.At.Place] = &metadataWriters{manager: m}
			for _, read := range readsOfFilters(p, m) {
				reportUnwritten(p, read, []*metadataWriters{written[m.At.Place]})
			}
		}
		managers.EachLevelOfKinds(p, func(l *envoy.RouteLevel, users []managers.Manager) {
			reads := readsOfLevel(p, l)
			if len(reads) == 0 {
				return
			}
			var writers []*metadataWriters
			for _, m := range users {
				writers = append(writers, written[m.At.Place])
			}
			for _, read := range reads {
				reportUnwritten(p, read, writers)
			}
		})
	}),
})

// metadataWriters are the filters of a manager, with what each of them writes.
type metadataWriters struct {
	manager managers.Manager
	filters []metadataWriter // once they are needed
}

type metadataWriter struct {
	names []envoy.MetadataName
	known bool
}

func (w *metadataWriters) all() []metadataWriter {
	if w.filters == nil {
		for _, f := range w.manager.Filters {
			names, known := f.WritesMetadata(w.manager.Routes)
			w.filters = append(w.filters, metadataWriter{names, known})
		}
	}
	return w.filters
}

// reportUnwritten reports a read if it is certain that none of some managers writes the metadata before it.
func reportUnwritten(p *lint.Pass, read metadataRead, users []*metadataWriters) {
	note := ""
	for _, w := range users {
		before := len(w.manager.Filters)
		if read.by != nil {
			before = lastIndex(w.manager.Filters, read.by)
		}
		if before < 0 {
			continue // this manager does not read it
		}
		why, never := w.lack(read.name, before)
		if !never {
			return
		}
		note = why
	}
	if note == "" {
		return
	}
	what := fmt.Sprintf("%q of %q", read.name.Key, read.name.Namespace)
	if read.name.Key == "" {
		what = fmt.Sprintf("in %q", read.name.Namespace)
	}
	p.Report(read.at, lint.Diagnostic{
		Severity: read.severity,
		Message:  fmt.Sprintf("no filter before this has written the metadata %s", what),
		Notes:    []string{note, read.effect},
		Help:     "write the namespace and the key that a filter writes, and put that filter before this",
	})
}

// lack reports whether no filter before an index writes some metadata, and what is written instead.
func (w *metadataWriters) lack(name envoy.MetadataName, before int) (why string, never bool) {
	if slices.ContainsFunc(w.manager.Message.GetUpgradeConfigs(), func(u *hcmv3.HttpConnectionManager_UpgradeConfig) bool { return len(u.GetFilters()) > 0 }) {
		return "", false // other filters run for those requests
	}
	keys := map[string]bool{}
	why = fmt.Sprintf("no filter of this connection manager writes to %q", name.Namespace)
	for i, writer := range w.all() {
		meets := slices.ContainsFunc(writer.names, name.Meets)
		switch {
		case i < before && (meets || !writer.known):
			return "", false
		case meets:
			why = fmt.Sprintf("%q writes it, and runs later", w.manager.Filters[i].Message.GetName())
		case i < before && w.manager.Filters[i].Kind == "jwt_authn" && w.manager.Filters[i].Message.GetName() == name.Namespace && name.Namespace != envoy.JWTMetadata:
			why = fmt.Sprintf("jwt_authn writes to %q, whatever its name is", envoy.JWTMetadata)
			keys[""] = true
		case i < before:
			for _, n := range writer.names {
				if n.Namespace == name.Namespace {
					keys[n.Key] = true
				}
			}
		}
	}
	if len(keys) > 0 && !keys[""] {
		why = fmt.Sprintf("the filters write these keys of %q: %s", name.Namespace, strings.Join(words.Quoted(slices.Sorted(maps.Keys(keys))), ", "))
	}
	return why, len(keys) > 0 || strings.HasPrefix(name.Namespace, "envoy.filters.http.") || w.alone()
}

// alone reports whether it is certain that nothing but the HTTP filters writes metadata: a listener filter or another network filter can do it too.
func (w *metadataWriters) alone() bool {
	chain, _ := graph.Around[*listenerv3.FilterChain](w.manager.At.Place)
	l, place := graph.Around[*listenerv3.Listener](w.manager.At.Place)
	return place != nil && len(chain.GetFilters()) == 1 && envoy.ListenerFiltersOf(place.At(), l).Lack(envoy.ProxyProtocol)
}
