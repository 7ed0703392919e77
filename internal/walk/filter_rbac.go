package walk

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	xdsv3 "github.com/cncf/xds/go/xds/type/matcher/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	rbacconfigv3 "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	rbacv3 "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	matcherv3 "github.com/envoyproxy/go-control-plane/envoy/type/matcher/v3"

	"github.com/xdslint/xdslint/dataplane/envoy/match"
	"github.com/xdslint/xdslint/graph"
)

// rbac follows RoleBasedAccessControlFilter::evaluateEnforcedEngine. Policies are tried by their names.
func rbac(j *journey, v visit) bool {
	config, _ := v.Config.(*rbacv3.RBAC)
	if own, ok := v.own.(*rbacv3.RBACPerRoute); ok {
		config = own.GetRbac()
	}
	if m := config.GetMatcher(); m != nil {
		at := v.Own
		if v.own != nil {
			at = v.ownAt.Field("rbac")
		}
		return j.rbacByMatcher(v, m, at.Field("matcher"))
	}
	rules := config.GetRules()
	if rules == nil || rules.GetAction() == rbacconfigv3.RBAC_LOG {
		return true
	}
	name, fits := "none", match.No
	for _, each := range slices.Sorted(maps.Keys(rules.GetPolicies())) {
		if fits = j.policy(rules.GetPolicies()[each]); fits != match.No {
			name = each
			break
		}
	}
	switch {
	case fits == match.Perhaps:
		if !j.conn.known() {
			return j.perhaps(v, "the address of the client, in the policy "+name)
		}
		return j.perhaps(v, "what only Envoy knows, in the policy "+name)
	case (fits == match.Yes) == (rules.GetAction() == rbacconfigv3.RBAC_ALLOW):
		return true
	}
	return j.deniesByPolicy(name)
}

// rbacByMatcher follows RoleBasedAccessControlMatcherEngineImpl::handleAction. Without a match, the request is denied.
func (j *journey) rbacByMatcher(v visit, m *xdsv3.Matcher, at graph.At) bool {
	found, fits := j.decide(m, at)
	if fits == match.Perhaps {
		return j.perhaps(v, "a matcher by what is not known")
	}
	name := "none"
	if fits == match.Yes {
		content, _ := found.content()
		action, ok := content.(*rbacconfigv3.Action)
		if !ok {
			return j.perhaps(v, "the action of a matcher")
		}
		if action.GetAction() != rbacconfigv3.RBAC_DENY {
			return true
		}
		name = action.GetName()
	}
	return j.deniesByPolicy(name)
}

func (j *journey) deniesByPolicy(name string) bool {
	return j.answers(403, "rbac_access_denied_matched_policy["+strings.Join(strings.Fields(name), "_")+"]", "-")
}

// policy reports whether a request fits a policy.
func (j *journey) policy(p *rbacconfigv3.Policy) match.Overlap {
	fits := min(anyOf(p.GetPermissions(), j.permission), anyOf(p.GetPrincipals(), j.principal))
	if p.GetCondition() != nil || p.GetCheckedCondition() != nil {
		fits = min(fits, match.Perhaps)
	}
	return fits
}

func anyOf[M any](list []M, f func(M) match.Overlap) match.Overlap {
	fits := match.No
	for _, each := range list {
		fits = max(fits, f(each))
	}
	return fits
}

func allOf[M any](list []M, f func(M) match.Overlap) match.Overlap {
	fits := match.Yes
	for _, each := range list {
		fits = min(fits, f(each))
	}
	return fits
}

func certain(yes bool) match.Overlap {
	if yes {
		return match.Yes
	}
	return match.No
}

func (j *journey) permission(p *rbacconfigv3.Permission) match.Overlap {
	port := int32(j.conn.Destination.Port())
	switch r := p.GetRule().(type) {
	case *rbacconfigv3.Permission_Any:
		return match.Yes
	case *rbacconfigv3.Permission_AndRules:
		return allOf(r.AndRules.GetRules(), j.permission)
	case *rbacconfigv3.Permission_OrRules:
		return anyOf(r.OrRules.GetRules(), j.permission)
	case *rbacconfigv3.Permission_NotRule:
		return match.Yes - j.permission(r.NotRule)
	case *rbacconfigv3.Permission_Header:
		return j.fitsHeader(r.Header, j.headers)
	case *rbacconfigv3.Permission_UrlPath:
		return j.urlPath(r.UrlPath)
	case *rbacconfigv3.Permission_DestinationPort:
		return certain(uint32(port) == r.DestinationPort)
	case *rbacconfigv3.Permission_DestinationPortRange:
		return certain(r.DestinationPortRange.GetStart() <= port && port < r.DestinationPortRange.GetEnd())
	case *rbacconfigv3.Permission_DestinationIp:
		return inRange(r.DestinationIp, j.conn.Destination.Addr())
	case *rbacconfigv3.Permission_RequestedServerName:
		return j.fitsText(r.RequestedServerName, j.conn.ServerName)
	case *rbacconfigv3.Permission_Metadata: //nolint:staticcheck // deprecated, and in use
		return j.fitsMetadata(r.Metadata) //nolint:staticcheck // the same
	case *rbacconfigv3.Permission_SourcedMetadata:
		return j.fitsSourced(r.SourcedMetadata)
	}
	return match.Perhaps
}

func (j *journey) principal(p *rbacconfigv3.Principal) match.Overlap {
	switch i := p.GetIdentifier().(type) {
	case *rbacconfigv3.Principal_Any:
		return match.Yes
	case *rbacconfigv3.Principal_AndIds:
		return allOf(i.AndIds.GetIds(), j.principal)
	case *rbacconfigv3.Principal_OrIds:
		return anyOf(i.OrIds.GetIds(), j.principal)
	case *rbacconfigv3.Principal_NotId:
		return match.Yes - j.principal(i.NotId)
	case *rbacconfigv3.Principal_Header:
		return j.fitsHeader(i.Header, j.headers)
	case *rbacconfigv3.Principal_UrlPath:
		return j.urlPath(i.UrlPath)
	case *rbacconfigv3.Principal_SourceIp: //nolint:staticcheck // deprecated, and in use
		return inRange(i.SourceIp, j.conn.peer) //nolint:staticcheck // the same
	case *rbacconfigv3.Principal_DirectRemoteIp:
		return inRange(i.DirectRemoteIp, j.conn.Direct)
	case *rbacconfigv3.Principal_RemoteIp:
		return inRange(i.RemoteIp, j.conn.Source.Addr())
	case *rbacconfigv3.Principal_Authenticated_:
		return j.authenticated(i.Authenticated.GetPrincipalName())
	case *rbacconfigv3.Principal_Metadata: //nolint:staticcheck // deprecated, and in use
		return j.fitsMetadata(i.Metadata) //nolint:staticcheck // the same
	case *rbacconfigv3.Principal_SourcedMetadata:
		return j.fitsSourced(i.SourcedMetadata)
	}
	return match.Perhaps
}

// urlPath follows PathMatcher::match. Since Envoy 1.39, parameters are left out where the table of the route leaves them out, but not without a route.
func (j *journey) urlPath(m *matcherv3.PathMatcher) match.Overlap {
	p := withoutQuery(j.headers.value(path))
	routed := j.level != nil && j.level.Route != nil
	if routed && j.table.message.GetIgnorePathParametersInPathMatching() && j.runtime.Guard("envoy.reloadable_features.rbac_respect_ignore_path_parameters", true) {
		p = j.withoutParameters(p)
	}
	return j.fitsText(m.GetPath(), p)
}

// inRange reports whether an address is in a network. It may be, if the address is not known.
func inRange(r *corev3.CidrRange, a netip.Addr) match.Overlap {
	if !a.IsValid() {
		return match.Perhaps
	}
	return certain(within([]*corev3.CidrRange{r}, a))
}

// authenticated follows AuthenticatedMatcher::matches.
func (j *journey) authenticated(m *matcherv3.StringMatcher) match.Overlap {
	switch {
	case !j.conn.tls:
		return match.No
	case m == nil:
		return match.Yes
	case j.conn.presented && j.conn.name == "":
		return match.Perhaps
	}
	return j.fitsText(m, j.conn.name)
}

// fitsSourced follows MetadataMatcher::matches: the metadata is that of the request or of the route.
func (j *journey) fitsSourced(m *rbacconfigv3.SourcedMetadata) match.Overlap {
	if m.GetMetadataSource() == rbacconfigv3.MetadataSource_ROUTE {
		own := metadata{}
		if j.level != nil {
			maps.Copy(own, j.level.Route.GetMetadata().GetFilterMetadata())
		}
		return match.FitMetadata(m.GetMetadataMatcher(), own)
	}
	return j.fitsMetadata(m.GetMetadataMatcher())
}
