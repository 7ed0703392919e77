package http

import (
	"maps"
	"slices"

	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	rbacfilterv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/lint"
)

// condition is a condition of an RBAC policy on the path, a header or dynamic metadata.
type condition struct {
	at       lint.At
	header   *routev3.HeaderMatcher
	path     *matcherv3.PathMatcher
	metadata *matcherv3.MetadataMatcher
	// escapes: a request that does not meet the condition, but should, is let in. It is so for what DENY lists, and for what ALLOW excepts.
	escapes bool
}

// eachCondition calls f for the conditions of an RBAC filter's rules.
func eachCondition(f func(p *lint.Pass, c condition)) lint.Check {
	return eachConfig(func(p *lint.Pass, at lint.At, m *rbacfilterv3.RBAC) { conditionsOf(p, at, m, f) })
}

// conditionsOf calls f for the conditions of a filter's rules.
func conditionsOf(p *lint.Pass, at lint.At, m *rbacfilterv3.RBAC, f func(p *lint.Pass, c condition)) {
	if m.GetRules().GetAction() == rbacv3.RBAC_LOG {
		return
	}
	w, deny := conditions{p, f}, m.GetRules().GetAction() == rbacv3.RBAC_DENY
	for _, name := range slices.Sorted(maps.Keys(m.GetRules().GetPolicies())) {
		policy, own := m.GetRules().GetPolicies()[name], at.Field("rules").Entry("policies", name)
		for i, permission := range policy.GetPermissions() {
			w.permission(own.Item("permissions", i), permission, deny)
		}
		for i, principal := range policy.GetPrincipals() {
			w.principal(own.Item("principals", i), principal, deny)
		}
	}
}

type conditions struct {
	p *lint.Pass
	f func(p *lint.Pass, c condition)
}

func (w conditions) permission(at lint.At, m *rbacv3.Permission, escapes bool) {
	for _, set := range []struct {
		name  string
		rules []*rbacv3.Permission
	}{{"and_rules", m.GetAndRules().GetRules()}, {"or_rules", m.GetOrRules().GetRules()}} {
		for i, inner := range set.rules {
			w.permission(at.Field(set.name).Item("rules", i), inner, escapes)
		}
	}
	if m.GetNotRule() != nil {
		w.permission(at.Field("not_rule"), m.GetNotRule(), !escapes)
	}
	w.leaf(at, m, escapes)
}

func (w conditions) principal(at lint.At, m *rbacv3.Principal, escapes bool) {
	for _, set := range []struct {
		name string
		ids  []*rbacv3.Principal
	}{{"and_ids", m.GetAndIds().GetIds()}, {"or_ids", m.GetOrIds().GetIds()}} {
		for i, inner := range set.ids {
			w.principal(at.Field(set.name).Item("ids", i), inner, escapes)
		}
	}
	if m.GetNotId() != nil {
		w.principal(at.Field("not_id"), m.GetNotId(), !escapes)
	}
	w.leaf(at, m, escapes)
}

// leaf is a permission or a principal without others inside.
type leaf interface {
	GetHeader() *routev3.HeaderMatcher
	GetUrlPath() *matcherv3.PathMatcher
	GetMetadata() *matcherv3.MetadataMatcher
	GetSourcedMetadata() *rbacv3.SourcedMetadata
}

func (w conditions) leaf(at lint.At, m leaf, escapes bool) {
	switch sourced := m.GetSourcedMetadata(); {
	case m.GetHeader() != nil:
		w.f(w.p, condition{at: at.Field("header"), header: m.GetHeader(), escapes: escapes != m.GetHeader().GetInvertMatch()})
	case m.GetUrlPath() != nil:
		w.f(w.p, condition{at: at.Field("url_path"), path: m.GetUrlPath(), escapes: escapes})
	case m.GetMetadata() != nil:
		w.f(w.p, condition{at: at.Field("metadata"), metadata: m.GetMetadata(), escapes: escapes})
	case sourced.GetMetadataMatcher() != nil && sourced.GetMetadataSource() == rbacv3.MetadataSource_DYNAMIC:
		w.f(w.p, condition{at: at.Field("sourced_metadata", "metadata_matcher"), metadata: sourced.GetMetadataMatcher(), escapes: escapes})
	}
}
