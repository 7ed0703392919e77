package walk

import (
	"slices"
	"strings"

	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	iptaggingv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ip_tagging/v3"
	setfilterstatev3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/set_filter_state/v3"

	"github.com/xdslint/xdslint/graph"
)

// chooseAgain finds the route with the headers as they are now: the filter has cleared the route cache.
func (j *journey) chooseAgain() bool {
	a := j.answer
	a.Passed = slices.DeleteFunc(a.Passed, func(p Passed) bool { return p.Kind == "route" })
	a.Scope, a.Table, a.VirtualHost, a.Route, a.Target, a.Weighted = "", "", "", "", "", nil
	j.table, j.host, j.level, j.redirect = nil, nil, nil, false
	return j.choose()
}

// setFilterState lets Envoy choose the route again, with what the filters before have changed.
func setFilterState(j *journey, v visit) bool {
	config, _ := v.Config.(*setfilterstatev3.Config)
	return !config.GetClearRouteCache() || j.chooseAgain()
}

// ipTagging follows IpTaggingFilter::decodeHeaders. A header that no route matches does not matter.
func ipTagging(j *journey, v visit) bool {
	config := settings[*iptaggingv3.IPTagging](v)
	name := config.GetIpTagHeader().GetHeader()
	if name == "" {
		name = "x-envoy-ip-tags"
	}
	internal := j.headers.value(internalHeader) == "true"
	if !j.matchesOn(name) || config.GetRequestType() == iptaggingv3.IPTagging_INTERNAL && !internal || config.GetRequestType() == iptaggingv3.IPTagging_EXTERNAL && internal {
		return true
	}
	if !j.conn.known() || config.GetIpTagsDatasource() != nil {
		return j.perhaps(v, "the address of the client")
	}
	return j.tag(v, config, name)
}

// tag writes the tags of the client's address into a header.
func (j *journey) tag(v visit, config *iptaggingv3.IPTagging, name string) bool {
	var tags []string
	for _, t := range config.GetIpTags() {
		if within(t.GetIpList(), j.conn.Source.Addr()) {
			tags = append(tags, t.GetIpTagName())
		}
	}
	own := config.GetIpTagHeader()
	sanitizes := own != nil && own.GetAction() == iptaggingv3.IPTagging_IpTagHeader_SANITIZE
	switch {
	case len(tags) > 1:
		return j.perhaps(v, "the order of its tags")
	case len(tags) == 0 && !sanitizes:
		return true
	case sanitizes:
		j.headers.remove(name)
	}
	j.headers.change(name)
	if len(tags) > 0 {
		if before := j.headers.value(name); before != "" {
			tags = []string{before, tags[0]}
		}
		j.headers.set(name, strings.Join(tags, ","))
	}
	return j.chooseAgain()
}

// matchesOn reports whether a matcher of the snapshot asks about a header.
func (j *journey) matchesOn(name string) bool {
	for _, place := range j.view.Places((&routev3.HeaderMatcher{}).ProtoReflect().Descriptor().FullName()) {
		if m, ok := graph.As[*routev3.HeaderMatcher](place); ok && strings.EqualFold(m.GetName(), name) {
			return true
		}
	}
	return false
}
