package walk

import (
	"slices"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	headermutationv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/header_mutation/v3"
	hcmv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/graph"
)

// upstreamFilters returns the HTTP filters between the router and a cluster: those of the cluster, or else those of the router.
func (j *journey) upstreamFilters(r *graph.Resource) []envoy.HTTPFilter {
	if r != nil {
		c, _ := r.Message.(*clusterv3.Cluster)
		if h, _ := envoy.UpstreamHTTPOf(r.At(), c); len(h.Typed.GetHttpFilters()) > 0 {
			return envoy.HTTPFiltersOf(h.At, "http_filters", h.Typed.GetHttpFilters())
		}
	}
	for _, f := range j.filters {
		if config, ok := f.Config.(interface {
			GetUpstreamHttpFilters() []*hcmv3.HttpFilter
		}); ok {
			return envoy.HTTPFiltersOf(f.Own, "upstream_http_filters", config.GetUpstreamHttpFilters())
		}
	}
	return nil
}

// upstreamChange lets these filters change the request and the response.
func (j *journey) upstreamChange(r *graph.Resource) {
	for _, f := range j.upstreamFilters(r) {
		state := j.level.Filter(f.Message.GetName(), f.Message.GetDisabled())
		if !state.Off && !harmless[f.Kind] {
			j.actUpstream(visit{f, state.Config, state.At})
		}
	}
}

// upstreamByChance changes the request as the own filters of a cluster do that chance may choose, and notes that those change the response.
func (j *journey) upstreamByChance(r *graph.Resource) {
	if len(clusterPolicies(r).GetHttpFilters()) == 0 {
		return
	}
	before := j.response
	j.response = headers{}
	j.upstreamChange(r)
	j.response = before
	if slices.ContainsFunc(j.upstreamFilters(r), func(f envoy.HTTPFilter) bool {
		return slices.ContainsFunc(j.headerMutations(f), func(m *headermutationv3.Mutations) bool { return len(m.GetResponseMutations()) > 0 })
	}) {
		j.answer.doubt("response_added", "it depends on the cluster, which chance chooses")
	}
}

func (j *journey) actUpstream(v visit) {
	if v.Kind != "header_mutation" {
		j.answer.doubt(unknownStatus, "the upstream filter "+v.Message.GetName()+" can answer or change the request")
		return
	}
	mutateHeaders(j, v)
	for _, m := range j.headerMutations(v.HTTPFilter) {
		j.mutateBy(&j.response, m.GetResponseMutations(), func(name, why string) { j.answer.doubt("response_added."+name, why) })
	}
}
