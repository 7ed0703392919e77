package http

import (
	"maps"
	"regexp"
	"slices"
	"sync"

	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	extauthzv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/ext_authz/v3"
	rbacfilterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"

	"github.com/xdslint/xdslint/dataplane/envoy"
	"github.com/xdslint/xdslint/lint"
	"github.com/xdslint/xdslint/rules/internal/managers"
)

// metadataRead is a place where dynamic metadata is read.
type metadataRead struct {
	at     lint.At
	name   envoy.MetadataName
	effect string // of metadata that is never written
	// by reports whether a filter reads it. If no filter does, it is read after all filters.
	by func(envoy.HTTPFilter) bool
	// severity of the finding, unless it is that of the rule: a service that gets less than it could may not need it.
	severity lint.Severity
}

const (
	sameForAll = "the condition has the same result for each request"
	noLimit    = "no request has this descriptor; the rate limit never applies, or is one for all requests if it has a default_value"
	leftOut    = "Envoy leaves the header out, or writes nothing in this place"
	notSent    = "the authorization service gets nothing in this namespace"
)

// readsOfFilters returns what the filters of a manager read by themselves.
func readsOfFilters(p *lint.Pass, m managers.Manager) (all []metadataRead) {
	for _, f := range m.Filters {
		self := func(o envoy.HTTPFilter) bool { return o.Message == f.Message }
		switch config := f.Config.(type) {
		case *rbacfilterv3.RBAC:
			all = append(all, readsOfPolicies(p, f.Own, config, self)...)
		case *extauthzv3.ExtAuthz:
			if config.GetGrpcService() == nil {
				continue
			}
			for i, namespace := range config.GetMetadataContextNamespaces() {
				all = append(all, metadataRead{
					at: f.Own.Item("metadata_context_namespaces", i), name: envoy.MetadataName{Namespace: namespace}, effect: notSent, by: self, severity: lint.Info,
				})
			}
		}
	}
	return all
}

func readsOfPolicies(p *lint.Pass, at lint.At, m *rbacfilterv3.RBAC, by func(envoy.HTTPFilter) bool) (all []metadataRead) {
	conditionsOf(p, at, m, func(_ *lint.Pass, c condition) {
		if path := c.metadata.GetPath(); len(path) > 0 {
			all = append(all, metadataRead{at: c.at, name: envoy.MetadataName{Namespace: c.metadata.GetFilter(), Key: path[0].GetKey()}, effect: sameForAll, by: by})
		}
	})
	return all
}

// readsOfLevel returns what is read for the requests of a part of a route table.
func readsOfLevel(p *lint.Pass, l *envoy.RouteLevel) (all []metadataRead) {
	for _, limit := range l.OwnRateLimits() {
		for i, action := range limit.Message.GetActions() {
			m := action.GetMetadata()
			if path := m.GetMetadataKey().GetPath(); len(path) > 0 && m.GetSource() == routev3.RateLimit_Action_MetaData_DYNAMIC {
				name := envoy.MetadataName{Namespace: m.GetMetadataKey().GetKey(), Key: path[0].GetKey()}
				all = append(all, metadataRead{at: limit.At.Item("actions", i).Field("metadata", "metadata_key"), name: name, effect: noLimit, by: limits})
			}
		}
	}
	for _, filter := range slices.Sorted(maps.Keys(l.Configs)) {
		s := l.Filter(filter, false)
		if m, ok := s.Config.(*rbacfilterv3.RBACPerRoute); ok && m.GetRbac() != nil {
			named := func(f envoy.HTTPFilter) bool { return f.Kind == "rbac" && f.Message.GetName() == filter }
			all = append(all, readsOfPolicies(p, s.At.Field("rbac"), m.GetRbac(), named)...)
		}
	}
	return append(all, readsOfHeaders(l)...)
}

func limits(f envoy.HTTPFilter) bool { return slices.Contains(limiters, f.Kind) }

// lastIndex returns the index of the last filter that does something, or -1.
func lastIndex(filters []envoy.HTTPFilter, does func(envoy.HTTPFilter) bool) int {
	for i, f := range slices.Backward(filters) {
		if does(f) {
			return i
		}
	}
	return -1
}

// dynamicMetadata is the command of a format that reads metadata.
var dynamicMetadata = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%DYNAMIC_METADATA\(([^:()%]+)(?::([^:()%]+))?[^()%]*\)(?::\d+)?%`)
})

// readsOfHeaders returns what is read for the headers that the router adds to requests, after all filters.
func readsOfHeaders(l *envoy.RouteLevel) (all []metadataRead) {
	var m interface {
		GetRequestHeadersToAdd() []*corev3.HeaderValueOption
	} = l.Table
	switch {
	case l.Cluster != nil:
		m = l.Cluster
	case l.Route != nil:
		m = l.Route
	case l.Host != nil:
		m = l.Host
	}
	for i, option := range m.GetRequestHeadersToAdd() {
		for _, found := range dynamicMetadata().FindAllStringSubmatch(option.GetHeader().GetValue(), -1) {
			at := l.At.Item("request_headers_to_add", i).Field("header", "value")
			all = append(all, metadataRead{at: at, name: envoy.MetadataName{Namespace: found[1], Key: found[2]}, effect: leftOut})
		}
	}
	return all
}
