package http

import (
	"fmt"

	cachev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cache/v3"
	cachev2v3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/cache_v2/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
)

var _ = Rules.Add(&lint.Rule{
	Name:     "cache-before-auth",
	Severity: lint.Warning,
	Summary:  "a cache comes before the filters that authorize requests, and GET requests pass without them",
	Links: []string{
		"CacheFilter::decodeHeaders (source/extensions/filters/http/cache/cache_filter.cc)",
		"https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/cache_filter",
	},
	Run: eachManager(func(p *lint.Pass, at lint.At, m *hcmv3.HttpConnectionManager) {
		filters := envoy.HTTPFiltersOf(at, "http_filters", m.GetHttpFilters())
		for i, f := range filters {
			if !caches(f) {
				continue
			}
			for _, later := range filters[i+1:] {
				if later.Authorizes() && !later.Message.GetDisabled() {
					reportCache(p, f, later)
					break
				}
			}
		}
	}),
})

// caches reports whether a filter is a cache that is turned on.
func caches(f envoy.HTTPFilter) bool {
	switch m := f.Config.(type) {
	case *cachev3.CacheConfig:
		return !m.GetDisabled().GetValue() && !f.Message.GetDisabled()
	case *cachev2v3.CacheV2Config:
		return !m.GetDisabled().GetValue() && !f.Message.GetDisabled()
	}
	return false
}

func reportCache(p *lint.Pass, cache, later envoy.HTTPFilter) {
	p.Report(cache.At, lint.Diagnostic{
		Message: fmt.Sprintf("GET and HEAD requests without an authorization header pass without %q", later.Message.GetName()),
		Notes:   []string{"the cache answers these requests, or sends them to the upstream itself: the filters behind it do not see them"},
		Help:    "move the cache behind the filters that authorize requests",
		Related: []lint.Related{lint.RelatedTo(later.At, "this filter runs only for the other requests")},
		Fixes:   lint.Swap(cache.At, later.At).Likely("exchange the two filters"),
	})
}
